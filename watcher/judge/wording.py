"""Which words of a message, and which traits of a change's shape, speak for a repair or against it?

A word is taken down to its stem, so that `crash`, `crashes` and `crashed` are one. What each is worth stands in
`wordweights.py`, which `benchmarks/train_words.py` learned; here is only what is looked at.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise

from watcher.judge.shipped import Role, role
from watcher.model import ChangedPath

_PREFIX = re.compile(
    r"^(?:\[[^\]\n]{0,80}\]\s*)*(?:[A-Z]{3,}(?:/[A-Z]+)?:\s+|[a-z]\w*(?:\([^)\n]{0,80}\))?!?:\s+)?", re.IGNORECASE
)
"""What stands before the words of a title: tags in brackets, a conventional type."""
_AREA = re.compile(r"^(?:[\w./*,+-]{1,60}(?: [\w./-]{1,30})?:\s+){1,4}")
"""The part of the program that a title is about: `mux-h2: `, `lib: net: `."""
_TOKEN = re.compile(r"[A-Za-z_][\w.:'/-]*(?:\(\))?|[#&|<>=]+")
_PLAIN = re.compile(r"[A-Z]?[a-z]+(?:'[a-z]+)?|[A-Z]{2,}s?")
_QUIET_LINE = re.compile(
    r"\s*(?:[A-Z][\w-]+(?: [a-z]+)?: |[-*] *\w+(?:\([^)\n]*\))?!?: |>|\||```|co-authored)", re.IGNORECASE
)
"""Lines of a body that are trailers, quotations, tables, or the subjects of squashed commits."""
_MOST = 4000
"""Characters of a body that are read."""
_ISSUE = re.compile(
    r"(?:fix|clos|resolv)(?:e[sd]?|ing)?:? +(?:issue )?(?:[\w./:-]+/issues/|[\w./-]*#|GH-)\d", re.IGNORECASE
)
_COMMIT = re.compile(r"\b(?=[0-9]*[a-f])(?=[a-f]*[0-9])[0-9a-f]{8,40}\b")
_TRACE = re.compile(
    r"Traceback|stack ?trace|backtrace|AddressSanitizer|\basan\b|ubsan|valgrind|runtime error|SUMMARY:"
    r"|panicked at|SIGSEGV|SIGABRT|\bat 0x|^#\d+ ",
    re.IGNORECASE | re.MULTILINE,
)
_STEPS = (0, 3, 10, 30, 100, 300)
"""Lines of shipped code up to which a change is one size larger."""


def stem(word: str) -> str:
    """Return a word without its English ending; what is left need not be a word."""
    text = word.lower().replace("’", "'")
    for ending, least in (("ing", 3), ("ed", 3), ("es", 4), ("ly", 4), ("s", 3)):
        left = text.removesuffix(ending)
        if left != text and len(left) >= least and not left.endswith("s") and re.search("[aeiouy]", left):
            text = left
            break
    if len(text) > 4 and text[-1] == text[-2] and text[-1] not in "lsz":  # noqa: PLR2004 - dropp, stopp
        text = text[:-1]
    return text.removesuffix("e") if len(text) > 4 else text  # noqa: PLR2004


def title_words(title: str) -> dict[str, str]:
    """Return what a title says: name of the word or pair → the text as it stands there."""
    bare = _AREA.sub("", _PREFIX.sub("", title))
    tokens = list(_tokens(bare))
    found = {f"first {name}": text for name, text in tokens[:1]}
    found |= {f"title {name}": text for name, text in tokens}
    found |= {f"title {a} {b}": f"{left} {right}" for (a, left), (b, right) in pairwise(tokens)}
    return found


def body_words(body: str) -> dict[str, str]:
    """Return what the rest of a message says; trailers, quotations and lists of commits are left out."""
    text = body[:_MOST]
    prose = "\n".join(line for line in text.splitlines() if not _QUIET_LINE.match(line))
    found = {f"body {name}": text for name, text in _tokens(prose) if name != "<name>"}
    for name, pattern in (("closes", _ISSUE), ("commit", _COMMIT), ("trace", _TRACE)):
        if match := pattern.search(text):
            found[f"body has {name}"] = " ".join(match[0].split())
    words = len(prose.split())
    found["body size " + ("none" if not words else "short" if words < 25 else "long" if words < 120 else "huge")] = ""  # noqa: PLR2004
    return found


def shape_traits(altered: Iterable[ChangedPath], added: int, removed: int) -> dict[str, str]:
    """Return the traits of a change's shape: how much shipped code, which files beside it."""
    paths = tuple(altered)
    roles = {path.path: role(path.path) for path in paths}
    shipped = [path for path in paths if roles[path.path] in {Role.SOURCE, Role.BUILD}]
    source = [path for path in shipped if roles[path.path] is Role.SOURCE]
    found = {
        f"adds {_size(added)}": f"{added} lines added",
        f"removes {_size(removed)}": f"{removed} lines removed",
        f"files {min(len(shipped), 9) if len(shipped) < 4 else '4-8' if len(shipped) < 9 else '9+'}": f"{len(shipped)} shipped files",  # noqa
    }
    for name, those in (
        ("new source", [path for path in source if path.status == "A"]),
        ("deleted source", [path for path in source if path.status == "D"]),
        ("test altered", [path for path in paths if roles[path.path] is Role.TEST and path.status != "A"]),
        ("test new", [path for path in paths if roles[path.path] is Role.TEST and path.status == "A"]),
        ("docs altered", [path for path in paths if roles[path.path] is Role.DOCS]),
        ("build altered", [path for path in shipped if roles[path.path] is Role.BUILD]),
        ("tooling altered", [path for path in paths if roles[path.path] is Role.TOOLING]),
    ):
        if those:
            found[name] = those[0].path
    if shipped and not source:
        found["build only"] = shipped[0].path
    return found


def _size(lines: int) -> str:
    return next((f"<={step}" for step in _STEPS if lines <= step), f">{_STEPS[-1]}")


def _tokens(text: str) -> Iterator[tuple[str, str]]:
    """Give each word as (stem, text); what looks like a name of the program's own is `<name>`."""
    for match in _TOKEN.finditer(text):
        word = match[0].rstrip(".:'/-")
        if _PLAIN.fullmatch(word):
            yield stem(word), word
        elif "-" in word or "/" in word:
            for part in re.split("[-/]", word):
                if _PLAIN.fullmatch(part):
                    yield stem(part), part
        elif word[:1].isalpha() or word[:1] == "_":
            yield "<name>", word
