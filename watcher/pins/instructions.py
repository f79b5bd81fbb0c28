"""The instructions of a Dockerfile, each with every character's own line."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from watcher.pins.format import Broken
from watcher.pins.text import Place, Span, Text, joined

KEYWORDS = frozenset(
    [
        "ADD",
        "ARG",
        "CMD",
        "COPY",
        "ENTRYPOINT",
        "ENV",
        "EXPOSE",
        "FROM",
        "HEALTHCHECK",
        "LABEL",
        "MAINTAINER",
        "ONBUILD",
        "RUN",
        "SHELL",
        "STOPSIGNAL",
        "USER",
        "VOLUME",
        "WORKDIR",
    ]
)
_DIRECTIVE = re.compile(r"#\s*(\w+)\s*=\s*(\S+)\s*")
_HEREDOC = re.compile(r"(?<![<\w])<<(?P<dash>-?)\s*(?P<quote>[\"']?)(?P<end>[A-Za-z_][\w.]*)(?P=quote)")
_FLAG = re.compile(r"\s*--[a-z][\w-]*(?:=(?:\"[^\"]*\"|[^\s\"])*)?(?=\s)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Heredoc:
    """A document inside an instruction."""

    body: Text
    is_literal: bool
    """Its end mark was quoted: no variables are put in."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Instruction:
    """One instruction with its continuation lines joined as the builder joins them."""

    keyword: str
    flags: tuple[str, ...]
    """`--from=x`, `--mount=…` as written."""
    rest: Text
    """What follows keyword and flags; heredocs follow their line, as a shell wants them."""
    place: Place
    heredocs: tuple[Heredoc, ...] = ()
    head: Text
    """`rest` without the heredocs' bodies."""


def instructions(file: str, text: str) -> Iterator[Instruction | Broken]:
    """Split a Dockerfile; of lines that are no instruction only the first is told."""
    lines = text.split("\n")
    escape, at = _escape(lines), 0
    is_broken = False
    missing: set[tuple[str, str]] = set()
    while at < len(lines):
        if not lines[at].strip() or lines[at].lstrip().startswith("#"):
            at += 1
            continue
        start = at
        logical, at = _logical(file, lines, at, escape)
        heredocs, at = _heredocs(file, lines, at, logical, missing)
        instruction = _instruction(logical, heredocs, Place(file, start + 1))
        if instruction is not None:
            yield instruction
        elif not is_broken:
            is_broken = True
            yield Broken(
                file=file, line=start + 1, reason=f"expected an instruction, found {lines[start].strip()[:60]!r}"
            )


def _escape(lines: list[str]) -> str:
    """Return the continuation mark that a directive at the top sets."""
    for line in lines:
        found = _DIRECTIVE.fullmatch(line.strip())
        if found is None:
            break
        if found[1].lower() == "escape" and found[2] in {"\\", "`"}:
            return found[2]
    return "\\"


def _logical(file: str, lines: list[str], at: int, escape: str) -> tuple[Text, int]:
    """Join an instruction's lines; comment lines and blank lines between them are not part of it."""
    mark = re.compile(re.escape(escape) + r"[ \t]*$")
    parts: list[Span] = []
    is_first = True
    while at < len(lines):
        line = lines[at]
        is_skipped = not is_first and (not line.strip() or line.lstrip().startswith("#"))
        found = None if is_skipped else mark.search(line)
        if not is_skipped:
            parts.append(Span(line[: found.start()] if found else line, Place(file, at + 1)))
        at += 1
        is_first = False
        if found is None and not is_skipped:
            break
    return Text(parts), at


def _heredocs(
    file: str, lines: list[str], at: int, logical: Text, missing: set[tuple[str, str]]
) -> tuple[list[tuple[Heredoc, Text]], int]:
    """Read the documents that follow; return each with its text including the end mark, and the next line.

    `missing` holds the end marks that are known not to come any more.
    """
    documents: list[tuple[Heredoc, Text]] = []
    if not re.match(r"\s*(?:onbuild\s+)?(?:run|copy|add)\b", logical.chars, re.IGNORECASE):
        return documents, at
    for found in _HEREDOC.finditer(logical.chars):
        strip = "\t" if found["dash"] else ""
        mark = found["end"]
        is_missing = (mark, strip) in missing
        ends = () if is_missing else (i for i in range(at, len(lines)) if lines[i].lstrip(strip) == mark)
        end = next(iter(ends), None)
        if end is None:
            missing.add((mark, strip))
            break
        body = joined(
            Text((Span((line.lstrip(strip) if strip else line) + "\n", Place(file, number)),))
            for number, line in enumerate(lines[at:end], at + 1)
        )
        closing = Text((Span(found["end"] + "\n", Place(file, end + 1)),))
        documents.append((Heredoc(body=body, is_literal=bool(found["quote"])), body + closing))
        at = end + 1
    return documents, at


def _instruction(logical: Text, heredocs: list[tuple[Heredoc, Text]], place: Place) -> Instruction | None:
    found = re.match(r"\s*([A-Za-z]+)(?=\s|$)", logical.chars)
    if found is None or found[1].upper() not in KEYWORDS:
        return None
    rest, flags = logical[found.end() :], []
    while flag := _FLAG.match(rest.chars):
        flags.append(flag[0].strip())
        rest = rest[flag.end() :]
    head = rest[len(rest.chars) - len(rest.chars.lstrip()) : len(rest.chars.rstrip())]
    line_end = Text((Span("\n", place),))
    whole = joined((head, line_end, *(text for _, text in heredocs))) if heredocs else head
    return Instruction(
        keyword=found[1].upper(),
        flags=tuple(flags),
        rest=whole,
        head=head,
        place=place,
        heredocs=tuple(heredoc for heredoc, _ in heredocs),
    )
