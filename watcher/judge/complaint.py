"""What does an error text name: which files with which lines, which functions, which words?

The text is whatever a failed build or run printed: tracebacks, stacks, compiler errors, whole logs. Of a long log only
the neighbourhoods of its errors are read.
"""

import re
from collections.abc import Iterable, Iterator

from watcher.judge.wording import stem
from watcher.suspicion import Complaint

_ESCAPE = re.compile(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])|[\x00-\x08\x0b-\x1f\x7f]")
"""Colours, titles and other orders to a terminal."""
_SUFFIX = (
    r"(?:c|cc|cpp|cxx|cu|cuh|h|hh|hpp|hxx|hip|inl|py|pyx|pxd|pyi|rs|go|js|jsx|mjs|cjs|ts|tsx|mts|cts|vue|svelte|astro"
    r"|java|kt|scala|rb|php|pl|pm|lua|sh|bash|swift|m|mm|cs|f90|asm|S|proto|cmake|in|build|txt|toml|cfg|ini|json|ya?ml)"
)
_FILE = re.compile(
    rf"(?<![\w./\\+-])((?:[A-Za-z]:)?(?:[\w.@+~-]{{0,80}}[/\\]){{0,40}}[\w.@+-]{{1,80}}\.{_SUFFIX})(?![\w/\\])"
    r"(?:\"?, line (\d{1,7})|[:(](\d{1,7})|[^\n]{0,40}?\bline[= ](\d{1,7}))?"
)
"""A path with the line number that stands behind it: `x.py", line 7`, `x.c:7:3`, `x.ts(7,3)`, `x.cpp line=7`."""
_NAME = r"[A-Za-z_$~][\w$]*"
_QUALIFIED = rf"(?:[\w$]+(?:<[^<>\n]{{0,80}}>)?(?:::|\.|->)|\(\*?[\w.]+\)\.)*{_NAME}"
_FUNCTIONS = tuple(
    re.compile(pattern, re.MULTILINE)
    for pattern in (
        rf"\bfunc(?:tion)?\s*[=:]\s*[`'\"‘]?({_QUALIFIED})",
        r"\b(?:[Ii]n )?(?:(?:static |member |constructor )*function|method|fn) [`'\"‘]([^'\"’`\n]{1,300})['\"’`]",
        rf"(?:, line |\.py:)\d+(?:,|:) in ({_QUALIFIED})",
        rf"^[ \t>]*#\d+\s+(?:0x[0-9a-f]+\s+)?(?:in\s+)?({_QUALIFIED})",
        rf"\b(?:at|by) 0x[0-9A-Fa-f]+: ({_QUALIFIED})",
        rf"^[ \t]*\d+:\s+(?:0x[0-9a-f]+ - )?({_QUALIFIED})",
        rf"^[ \t]*at (?:async |new |Object\.)*({_QUALIFIED}) ?\(",
        rf"^[ \t]*((?:[\w.~-]+/)*[\w.]+\.(?:\(\*?\w+(?:\[\.\.\.\])?\)\.)?{_NAME})\([^\n]{{0,200}}\)$",
        rf"\b({_QUALIFIED})\(\)",
        rf"\b((?:{_NAME}::)+{_NAME})\(",
        rf"[\w./-]+\.\w{{1,4}}:\d+: ({_NAME}): Assertion",
        rf"undefined (?:reference to|symbol:?) [`'\"‘]?({_QUALIFIED})",
    )
)
_LAST_IS_NEAREST = re.compile(r"most recent call last|^ *File \"[^\"\n]+\", line \d+|^\S+\.py:\d+: in ", re.MULTILINE)
"""Python's tracebacks end where the error is; all others begin there."""
_COMMON = {
    "main", "module", "lambda", "anonymous", "run", "call", "start", "init", "new", "inner", "wrapper", "test", "exit",
    "raise", "abort", "assert", "panic", "closure", "poll", "goexit", "__init__", "__call__", "operator", "std",
}  # fmt: skip
"""Names of functions that stand in every stack."""
_TOKEN = re.compile(r"(?<![A-Za-z0-9_])[A-Za-z_][A-Za-z0-9_]{2,79}")
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_STOP = {
    "the", "and", "for", "not", "was", "were", "are", "has", "had", "have", "with", "from", "this", "that", "when",
    "into", "but", "which", "will", "would", "can", "could", "should", "its", "been", "being", "does", "did", "done",
    "error", "errors", "exception", "failed", "fail", "fails", "failure", "file", "line", "most", "recent", "call",
    "last", "traceback", "warning", "note", "info", "debug", "usr", "lib", "local", "home", "python", "python3",
    "packages", "site", "dist", "build", "src", "include", "self", "none", "true", "false", "null", "return",
    "returned", "void", "int", "char", "const", "unsigned", "struct", "class", "def", "func", "function", "static",
    "import", "bin", "sbin", "opt", "tmp", "root", "user", "version", "you", "use", "used", "using", "may", "also",
    "only", "one", "two", "all", "any", "there", "here", "then", "than", "thread", "address", "goroutine", "running",
    "created", "expected", "got", "found", "unknown", "while", "after", "before", "because",
}  # fmt: skip
"""Words that say nothing: of English, of every stack, of every path."""
_LEAST_PART = 3
_ERROR = re.compile(
    r"error|exception|traceback|panic|fatal|failed|failure|assert|segmentation|sanitizer|sig(?:segv|abrt|bus|fpe)"
    r"|undefined (?:reference|symbol)|no such|cannot|abort|core dumped|invalid|illegal|out of memory|timed? ?out",
    re.IGNORECASE,
)
_LONG = 400
"""Lines up to which a text is read whole."""
_BEFORE, _AFTER = 12, 25
"""Lines around an error that are read in a longer one."""
_MOST_LINES = 4000
"""Lines around errors that are read: the last ones, where a log ends with what it failed of."""
_WIDEST = 2000
"""Characters of a line that are read."""
_MOST_TERMS = 400
_ENOUGH = 3.0
"""So often counts as often."""


def complaint(text: str) -> Complaint:
    """Return what a text names."""
    lines = [line[:_WIDEST] for line in _ESCAPE.sub("", text.replace("\r\n", "\n")).splitlines()]
    read = "\n".join(lines if len(lines) <= _LONG else _around_errors(lines))
    nearest_first = reversed if _LAST_IS_NEAREST.search(read) else iter
    files: dict[str, set[int]] = {}
    for path, *numbers in nearest_first(_FILE.findall(read)):
        files.setdefault(_slashed(path), set()).update(int(number) for number in numbers if number)
    counts: dict[str, float] = {}
    spelled: dict[str, str] = {}
    for term, word in terms(read):
        counts[term] = counts.get(term, 0.0) + 1.0
        spelled.setdefault(term, word)
    most = sorted(counts, key=lambda term: -counts[term])[:_MOST_TERMS]
    return Complaint(
        files={path: frozenset(found) for path, found in files.items() if path},
        functions=tuple(dict.fromkeys(nearest_first(list(_functions(read))))),
        terms={term: min(counts[term], _ENOUGH) for term in most},
        spelled={term: spelled[term] for term in most},
    )


def terms(text: str) -> Iterator[tuple[str, str]]:
    """Yield the words of a text, stemmed, and names of the program both whole and in parts, each with its spelling."""
    for token in _TOKEN.findall(text):
        parts = _PART.findall(token)
        if len(parts) > 1 or "_" in token:
            yield token.lower(), token
        yield from ((stem(part), part) for part in parts if len(part) >= _LEAST_PART and part.lower() not in _STOP)


def _functions(text: str) -> Iterator[str]:
    """Yield the functions in the order in which they stand in the text."""
    found = [(match.start(), match[1]) for pattern in _FUNCTIONS for match in pattern.finditer(text)]
    for _, name in sorted(found):
        bare = _last_name(name)
        if len(bare) > 1 and bare.lower() not in _COMMON and not bare.isdigit():
            yield bare


def _last_name(found: str) -> str:
    """Return the bare name of what a pattern caught: `pkg.(*T).Method`, `ns::f<int>`, `int f(char)`."""
    plain = re.sub(r"<[^<>]*>", "", found)
    head = re.split(r"\((?!\*)", plain)[0] or plain
    names = re.findall(r"[\w$~]+", head)
    return next((name for name in reversed(names) if not re.fullmatch(r"func\d+|\d+", name)), "")


def _around_errors(lines: list[str]) -> list[str]:
    """Return the lines close to errors, each line once."""
    wanted: set[int] = set()
    for number in reversed([at for at, line in enumerate(lines) if _ERROR.search(line)]):
        wanted.update(range(max(0, number - _BEFORE), min(len(lines), number + _AFTER)))
        if len(wanted) >= _MOST_LINES:
            break
    return list(_once(lines[number] for number in sorted(wanted)))


def _once(lines: Iterable[str]) -> Iterator[str]:
    """Yield each line once: a log says the same thing for every worker."""
    return iter(dict.fromkeys(lines))


def _slashed(path: str) -> str:
    """Return a printed path with `/`, without drive and without steps up."""
    return "/".join(part for part in re.sub(r"^[A-Za-z]:", "", path.replace("\\", "/")).split("/") if part.strip("."))
