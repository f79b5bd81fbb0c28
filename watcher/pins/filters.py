"""What simple text filters let through: the ways in which scripts pick one ref out of a file or a list."""

import re

from watcher.pins.text import Text, joined

_LONGEST = 100_000
_COST = 30_000_000


def filtered(name: str, words: list[str], source: Text) -> Text | None:
    """Return what a filter prints for an input; None where that takes more than is done here."""
    if len(source.chars) > _LONGEST or not source.is_known:
        return None
    match name:
        case "head" | "tail":
            return _ends(name, words, _lines(source))
        case "tr" | "sort" | "uniq" | "cat":
            return _translated(words, source) if name == "tr" else source
        case "grep" | "egrep":
            return _grep(words, _lines(source))
        case "cut":
            return _cut(words, _lines(source))
        case "awk" | "gawk":
            return _awk(words, _lines(source))
        case "sed":
            return _sed(words, _lines(source))
    return None


def _lines(source: Text) -> list[Text]:
    return [source[found.start() : found.end()] for found in re.finditer(r"[^\n]+", source.chars)]


def _joined(lines: list[Text], source: Text | None = None) -> Text:
    """Put lines together again; a single one stays what it is."""
    if len(lines) < 2 or source is None:  # noqa: PLR2004 - nothing stands between fewer
        return joined(lines)
    end = source[:1].mapped(lambda _: "\n")
    return joined(part for line in lines for part in (line, end))


def _ends(name: str, words: list[str], lines: list[Text]) -> Text | None:
    count = re.search(r"-n?\s*(\d+)", " ".join(words))
    number = int(count[1]) if count else 10
    kept = lines[:number] if name == "head" else lines[-number:]
    return _joined(kept, lines[0]) if lines else None


def _translated(words: list[str], source: Text) -> Text | None:
    """Read `tr -d '[:space:]'`; what turns characters into others is no ref as it is written."""
    if words[:1] != ["-d"] or len(words) != 2:  # noqa: PLR2004 - tr -d SET
        return None
    marks = re.sub(r"\[:space:\]", " \t\r\n", words[1]).replace("\\n", "\n").replace("\\r", "\r").replace("\\t", "\t")
    pieces = re.finditer(f"[^{re.escape(marks)}]+", source.chars) if marks else iter(())
    return joined(source[found.start() : found.end()] for found in pieces)


def _pattern(words: list[str]) -> tuple[re.Pattern[str] | None, set[str]]:
    flags = {letter for word in words if re.fullmatch(r"-[A-Za-z]+", word) for letter in word[1:]}
    rest = [word for word in words if not word.startswith("-")]
    return _compiled(rest[0], is_extended=bool(flags & set("EP"))) if rest else None, flags


def _following(words: list[str]) -> tuple[int, list[str]]:
    """Read grep's `-A 2`, `-A2`: how many lines behind each match are printed, and the words without that."""
    for at, word in enumerate(words):
        if word == "-A" and words[at + 1 : at + 2] and re.fullmatch(r"\d{1,3}", words[at + 1]):
            return int(words[at + 1]), [*words[:at], *words[at + 2 :]]
        if found := re.fullmatch(r"(?:-A|--after-context=)(\d{1,3})", word):
            return int(found[1]), [*words[:at], *words[at + 1 :]]
    return 0, words


def _compiled(pattern: str, *, is_extended: bool) -> re.Pattern[str] | None:
    """Compile a pattern of grep or sed; None for one that may take long or that means something else here."""
    if not is_extended:
        pattern = re.sub(r"\\([+?|(){}])|([+?|(){}])", lambda m: m[1] or "\\" + m[2], pattern)
    pattern = pattern.replace("[[:space:]]", r"\s").replace("[[:digit:]]", r"\d").replace("[[:alnum:]]", "[A-Za-z0-9]")
    if len(pattern) > 200 or re.search(r"\)[*+{?]|[*+?}][*+{]", pattern):  # noqa: PLR2004 - plain ones only
        return None
    try:
        before, mark, kept = pattern.partition(r"\K")
        return re.compile(f"{before}(?P<kept>{kept})" if mark else pattern)
    except (re.error, OverflowError):
        return None


def _is_affordable(pattern: re.Pattern[str], lines: list[Text]) -> bool:
    """Answer whether a pattern ends soon on all lines at the worst: each open repeat multiplies the steps."""
    repeats = sum(pattern.pattern.count(mark) for mark in "*+?{")
    steps: int = sum(len(line.chars) ** (repeats + 1) for line in lines)
    return steps <= _COST


def _grep(words: list[str], lines: list[Text]) -> Text | None:
    after, words = _following(words)
    pattern, flags = _pattern(words)
    if pattern is None or flags - set("EPoFsqhmi1") or not _is_affordable(pattern, lines):
        return None
    found = [(at, hit) for at, line in enumerate(lines) if (hit := pattern.search(line.chars))]
    first = lines[0] if lines else None
    if "o" in flags:
        part = "kept" if "kept" in pattern.groupindex else 0
        return _joined([lines[at][hit.start(part) : hit.end(part)] for at, hit in found], first)
    kept = dict.fromkeys(number for at, _ in found for number in range(at, at + after + 1) if number < len(lines))
    return _joined([lines[number] for number in kept], first)


def _cut(words: list[str], lines: list[Text]) -> Text | None:
    options = " ".join(words)
    mark, field = re.search(r"-d\s*(\S| (?= ))", options), re.search(r"-f\s*(\d+)(-?)", options)
    if field is None:
        return None
    return _joined(
        [_field(line, re.escape(mark[1]) if mark else "\t", int(field[1]), bool(field[2])) for line in lines]
    )


def _field(line: Text, mark: str, number: int, is_open: bool = False) -> Text:
    starts, ends = [0], []
    for found in re.finditer(mark, line.chars):
        ends.append(found.start())
        starts.append(found.end())
    ends.append(len(line.chars))
    if not 1 <= number <= len(starts):
        return Text()
    return line[starts[number - 1] : ends[-1] if is_open else ends[number - 1]]


def _awk(words: list[str], lines: list[Text]) -> Text | None:
    """Read `awk -F= '/NAME/ {print $2}'`."""
    options = re.match(r"-F\s*(\S+)\s*", " ".join(words))
    program = re.search(
        r"(?:/(?P<pattern>(?:[^/\\]|\\.)*)/)?\s*\{\s*print\s+\$(?P<field>\d|NF)\s*;?\s*(?:exit)?\s*\}", " ".join(words)
    )
    if program is None:
        return None
    pattern = _compiled(program["pattern"], is_extended=True) if program["pattern"] else re.compile("")
    if pattern is None or not _is_affordable(pattern, lines):
        return None
    mark = re.escape(options[1].strip("'\"")) if options else r"\s+"
    kept = [line for line in lines if pattern.search(line.chars)]
    numbers = [
        len(re.findall(mark, line.chars)) + 1 if program["field"] == "NF" else int(program["field"]) for line in kept
    ]
    return _joined([_field(line, mark, number) for line, number in zip(kept, numbers, strict=True)])


_EXPRESSION = re.compile(
    r"s(?P<mark>[/|#,@:!])(?P<old>(?:(?!(?P=mark))[^\\]|\\.)*)(?P=mark)(?P<new>(?:(?!(?P=mark))[^\\]|\\.)*)(?P=mark)(?P<flags>[gp]*)"
)


_RANGE = re.compile(r"/(?P<first>(?:[^/\\]|\\.)+)/(?:,/(?P<last>(?:[^/\\]|\\.)+)/)?p")


def _ranges(found: re.Match[str], lines: list[Text], *, is_extended: bool) -> Text | None:
    """Print the lines from one that matches on to the next that ends the range."""
    first = _compiled(found["first"], is_extended=is_extended)
    last = _compiled(found["last"], is_extended=is_extended) if found["last"] else first
    if first is None or last is None or not (_is_affordable(first, lines) and _is_affordable(last, lines)):
        return None
    kept: list[Text] = []
    is_open = False
    for line in lines:
        if is_open:
            kept.append(line)
            is_open = last.search(line.chars) is None
        elif first.search(line.chars):
            kept.append(line)
            is_open = bool(found["last"])
    return _joined(kept, lines[0] if lines else None)


def _sed(words: list[str], lines: list[Text]) -> Text | None:
    """Read `sed s|old|new|`: new text, or the first group alone, which picks a part out; and `sed -n /a/,/b/p`."""
    if words[:1] in (["-n"], ["-nE"], ["-En"]) and len(words) > 1 and (lines_of := _RANGE.fullmatch(words[1])):
        return _ranges(lines_of, lines, is_extended="E" in words[0])
    flags = {letter for word in words if re.fullmatch(r"-[A-Za-z]+", word) for letter in word[1:]}
    expressions = [found for word in words if (found := _EXPRESSION.fullmatch(word))]
    if flags - set("nEre") or len(expressions) != 1:
        return None
    found = expressions[0]
    pattern = _compiled(found["old"], is_extended=bool(flags & {"E", "r"}))
    if (
        pattern is None
        or not _is_affordable(pattern, lines)
        or re.search(r"\\[2-9]|&", found["new"])
        or ("\\1" in found["new"] and found["new"] != "\\1")
    ):
        return None
    result = [
        _replaced(line, pattern, found["new"], is_all="g" in found["flags"], is_printed="n" not in flags)
        for line in lines
    ]
    return _joined([line for line in result if line is not None], lines[0] if lines else None)


def _replaced(line: Text, pattern: re.Pattern[str], new: str, *, is_all: bool, is_printed: bool) -> Text | None:
    parts, last = [], 0
    for found in pattern.finditer(line.chars):
        here = line[found.start() : found.end()]
        put = line[found.start(1) : found.end(1)] if new == "\\1" and pattern.groups else _in_place(here, line, new)
        parts += [line[last : found.start()], put]
        last = found.end()
        if not is_all:
            break
    if not parts:
        return line if is_printed else None
    return joined((*parts, line[last:]))


def _in_place(here: Text, line: Text, new: str) -> Text:
    source = here or line
    if not new or not source:
        return Text()
    span = source.spans[0]
    return Text((type(span)(re.sub(r"\\(.)", r"\1", new), span.place, span.name),))
