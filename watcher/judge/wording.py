"""Which words of a message, and which traits of a change's shape, speak for a repair or against it?

A word is taken down to its stem, so that `crash`, `crashes` and `crashed` are one. What each is worth was learned from
public histories by `benchmarks/train_words.py`, and stands in `wordweights.py`; here is only what is looked at.
"""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import pairwise

from watcher.judge.shipped import Role, role
from watcher.model import ChangedPath

Found = dict[str, str]
"""Name of a word or trait → what was found, as it stands there."""

_TAGS = r"(?:\[[^\]\n]{0,80}\]\s*)*"
_PREFIX = re.compile(
    rf"^{_TAGS}(?:[a-z]{{3,20}}(?:/[a-z]{{3,20}})?:\s+|[a-z]\w{{0,40}}(?:\([^)\n]{{0,80}}\))?!?:\s+)?", re.IGNORECASE
)
"""What stands before the words of a title: tags in brackets, a conventional type."""
_AREA = re.compile(r"^(?:[\w./*,+-]{1,60}(?: [\w./-]{1,30})?:\s+){1,4}")
"""The part of the program that a title is about: `mux-h2: `, `lib: net: `."""
_TOKEN = re.compile(r"[A-Za-z_][\w.:'/-]*(?:\(\))?")
_PLAIN = re.compile(r"[A-Z]?[a-z]+(?:'[a-z]+)?|[A-Z]{2,}s?")
"""A word of English, or an abbreviation; anything else is a name of the program's own."""
_NAME = "<name>"
_QUIET = re.compile(
    r"\s*(?:[A-Z][\w-]+(?: [a-z]+)?: |[-*] *\w+(?:\([^)\n]*\))?!?: |[-*] *\[[ xX]\]|>|\||```|co-authored|#+ |<!--)",
    re.IGNORECASE,
)
"""Lines of a body that are trailers, subjects of squashed commits, ticks, quotations, tables, headings."""
_MOST, _LONGEST = 4000, 400
"""Characters of a body, and of a title, that are read."""
_HARM = re.compile(
    r"\b(crash(es|ed|ing)?|seg(mentation )?faults?|sigsegv|abort(s|ed)?|panic(s|ked)?|dead-?locks?|hang(s|ing)?|hung"
    r"|races?|leak(s|ed|ing|age)?|(over|under)(flow|read|run)(s|ed)?|use[- ]after[- ]free|uaf|double[- ](free|release)"
    r"|twice|out[- ]of[- ](bounds|range)|oob|off[- ]by[- ]one|null|nullptr|uninitiali[sz]ed|dangling"
    r"|corrupt(s|ed|ion)?|wrong(ly)?|incorrect(ly)?|broken|breaks|regress(ion|ed)|stale|bogus|mistake(nly)?"
    r"|infinite(ly)? (loop|recursion)|undefined behaviou?r|nan|bugs?|faulty|misbehav(es|ed|iou?r)|stuck|flaky|spurious"
    r"|bad|exploit(s|ed|able)?|vulnerab(le|ility|ilities)|denial)\b",
    re.IGNORECASE,
)
_REMEDY = re.compile(
    r"\b(do not|don't|doesn't|avoid(s|ing)?|prevent(s|ing)?|never|no longer|stop(s|ped)?|unset|restore(s|d)?"
    r"|guard(s|ed)?|handle(s)?|ensure(s)?|make sure|properly|correctly|reject(s|ed)?|must|should|missing|forgotten"
    r"|forgot|work ?around|repair(s|ed)?)\b",
    re.IGNORECASE,
)
_GROUPS = (("harm", _HARM), ("remedy", _REMEDY))
"""Words of one meaning, many of them too rare for the table to know."""
_CLOSES = re.compile(
    r"\b(?:fix(?:e[sd]|ing)?|clos(?:e[sd]?|ing)|resolv(?:e[sd]?|ing)):? +"
    r"(?:(?:[\w.-]{1,60}/[\w.-]{1,60})?#|GH-|https?://\S{1,200}/issues/)(\d{1,9})",
    re.IGNORECASE,
)
_COMMIT = re.compile(r"\b(?=[0-9]{0,40}[a-f])(?=[a-f]{0,40}[0-9])[0-9a-f]{8,40}\b")
_TRACE = re.compile(
    r"Traceback|stack ?trace|backtrace|AddressSanitizer|\basan\b|ubsan|valgrind|runtime error|SUMMARY:|panicked at"
    r"|SIGSEGV|SIGABRT|\bat 0x|^#\d{1,4} ",
    re.IGNORECASE | re.MULTILINE,
)
_MARKS = (("closes", _CLOSES), ("commit", _COMMIT), ("trace", _TRACE))
_LENGTHS = ((0, "none"), (25, "short"), (120, "long"))
"""Words of a body up to which it is called so; a huge one has more."""
_LINES = (0, 3, 10, 30, 100, 300)
"""Lines of shipped code up to which a change is one size larger."""
_FILES = ((1, "1"), (2, "2"), (3, "3"), (8, "4 to 8"))
_VOCABULARY = 8192
"""So many words are not taken apart again."""
_ENDINGS = (("ing", 3), ("ed", 3), ("es", 4), ("ly", 4), ("s", 3))
"""English endings, and how many letters must be left for one to be taken off."""


def stem(word: str) -> str:
    """Return a word without its English ending; what is left need not be a word."""
    text = word.lower()
    for ending, least in _ENDINGS:
        left = text.removesuffix(ending)
        if left != text and len(left) >= least and not left.endswith("s") and re.search("[aeiouy]", left):
            text = left
            break
    if re.search(r"...([^lsz])\1$", text):  # dropped, stopping; but: add, miss, call
        text = text[:-1]
    return text[:-1] if re.search(r"...e$", text) else text


def title_words(title: str) -> Found:
    """Return what a title says: its words, its pairs of neighbours, its first word; a prefix is not looked at."""
    bare = _AREA.sub("", _PREFIX.sub("", title[:_LONGEST]))
    tokens = list(_tokens(bare))
    found = {f"title {a} {b}": f"{left} {right}" for (a, left), (b, right) in pairwise(tokens)}
    found |= {f"title {name}": text for name, text in tokens}
    found |= {f"first {name}": text for name, text in tokens[:1]}
    return found | {f"title of {name}": match[0] for name, pattern in _GROUPS if (match := pattern.search(bare))}


def body_words(body: str) -> Found:
    """Return what the rest of a message says; trailers, quotations and lists of commits are left out."""
    text = body[:_MOST]
    prose = "\n".join(line for line in text.splitlines() if not _QUIET.match(line))
    found = {f"body {name}": word for name, word in _tokens(prose) if name != _NAME}
    found |= {f"body of {name}": match[0] for name, pattern in _GROUPS if (match := pattern.search(prose))}
    found |= {f"body has {name}": match[0] for name, pattern in _MARKS if (match := pattern.search(text))}
    words = len(prose.split())
    length = next((name for most, name in _LENGTHS if words <= most), "huge")
    return found | {f"body is {length}": f"{words} words"}


def line_counts(added: int, removed: int) -> Found:
    """Return how much shipped code a change adds and removes, in sizes."""
    return {
        f"adds {_size(added)}": f"adds {added} lines",
        f"removes {_size(removed)}": f"removes {removed} lines",
    }


def paths_altered(altered: Iterable[ChangedPath]) -> Found:
    """Return which kinds of files a change alters, and how many that are shipped."""
    paths = [(path, role(path.path)) for path in altered]
    shipped = [path for path, what in paths if what in {Role.SOURCE, Role.BUILD}]
    source = [path for path, what in paths if what is Role.SOURCE]
    count = next((name for most, name in _FILES if len(shipped) <= most), "9 or more")
    kinds = (
        ("new source", [path for path in source if path.status == "A"]),
        ("deleted source", [path for path in source if path.status == "D"]),
        ("altered test", [path for path, what in paths if what is Role.TEST and path.status != "A"]),
        ("new test", [path for path, what in paths if what is Role.TEST and path.status == "A"]),
        ("docs", [path for path, what in paths if what is Role.DOCS]),
        ("build", [path for path, what in paths if what is Role.BUILD]),
        ("tooling", [path for path, what in paths if what is Role.TOOLING]),
        ("build alone", [] if source else shipped),
    )
    found = {f"with {kind}": f"{kind}: {those[0].path}" for kind, those in kinds if those}
    return found | {f"files {count}": f"alters {len(shipped)} shipped file{'s' * (len(shipped) != 1)}"}


def _size(lines: int) -> str:
    return next((f"up to {step}" for step in _LINES if lines <= step), f"over {_LINES[-1]}")


SIZES = tuple(dict.fromkeys(_size(lines) for step in _LINES for lines in (step, step + 1)))
"""Every size of a change, smallest first."""


def _tokens(text: str) -> Iterator[tuple[str, str]]:
    """Give each word as (stem, text); what looks like a name of the program's own is `<name>`."""
    for match in _TOKEN.finditer(text):
        yield from _known(match[0])


@lru_cache(_VOCABULARY)
def _known(token: str) -> tuple[tuple[str, str], ...]:
    word = token.rstrip(".:'/-")
    parts = re.split("[-/]", word)
    if all(_PLAIN.fullmatch(part) for part in parts):
        return tuple((stem(part), part) for part in parts)
    return ((_NAME, word),)
