"""Requirements and constraints files of pip: VCS addresses and source archives."""

import posixpath
import re
from collections.abc import Iterable, Iterator

from packaging.requirements import InvalidRequirement, Requirement

from watcher.pins.address import archive_urls, vcs_urls
from watcher.pins.checkout import Checkout
from watcher.pins.format import Broken
from watcher.pins.sites import Pick, Sighting
from watcher.pins.text import Text, joined, unknown, written

_NAME = re.compile(
    r".*(?:requirements|constraints|requires)[\w.-]*\.(?:txt|in|pip)|(?:req|reqs)[\w.-]*\.txt", re.IGNORECASE
)
_FOLDER = re.compile(r"(?:.*[-_.])?(?:requirements|constraints|reqs?)(?:[-_.].*)?", re.IGNORECASE)
_COMMENT = re.compile(r"(?:^|\s)#.*$")
_VARIABLE = re.compile(r"\$\{[A-Za-z_]\w*\}")
_OPTION = re.compile(r"\s*(?:-e|--editable)(?:\s+|=)")
_CHECKED = 1_000
"""How many lines are held against pip's own grammar; the addresses are found in all of them."""


def claims(path: str) -> bool:
    """Answer whether a file is a list for `pip install -r` or `-c`."""
    folder, name = posixpath.split(path)
    is_list = name.lower().endswith((".txt", ".in", ".pip"))
    return _NAME.fullmatch(name) is not None or (is_list and bool(_FOLDER.fullmatch(posixpath.basename(folder))))


def parse(path: str, text: str, _: Checkout) -> Iterable[Sighting | Broken]:
    """Find the pins of a list; an included one (`-r`) is a file of its own."""
    unchecked = _CHECKED
    for line in _lines(written(text, path)):
        if "://" not in line.chars and "git+" not in line.chars:
            continue
        body = line[_end(_OPTION.match(line.chars)) :]
        if line.chars.lstrip().startswith("-") and not _OPTION.match(line.chars):
            continue
        unchecked -= 1
        reason = _objection(body.chars) if unchecked > 0 else ""
        if reason:
            unchecked = 0
            place = line.place(len(line.chars) - len(line.chars.lstrip()))
            yield Broken(file=path, line=place.line, reason=reason)
        for offset, source in (*vcs_urls(body.chars), *archive_urls(body.chars)):
            url = body[offset:]
            ref = url[source.ref.start : source.ref.end] if source.ref else None
            pick = Pick(upstream=source.upstream, url=url, ref=ref, command=url.place(), hint=source.hint)
            yield pick.sighting()


def _lines(source: Text) -> Iterator[Text]:
    """Yield the logical lines: comments gone, continuations joined, environment variables unknown."""
    parts: list[Text] = []
    for found in re.finditer(r"[^\n]*\n?", source.chars):
        line = source[found.start() : found.end()]
        comment = _COMMENT.search(line.chars.rstrip("\n"))
        is_continued = comment is None and line.chars.rstrip("\n").endswith("\\")
        end = comment.start() if comment else len(line.chars.rstrip("\n")) - is_continued
        parts.append(line[:end])
        if not is_continued:
            yield _without_variables(joined(parts))
            parts = []
    yield joined(parts)


def _without_variables(line: Text) -> Text:
    parts, last = [], 0
    for found in _VARIABLE.finditer(line.chars):
        parts += [line[last : found.start()], unknown(found[0], line.place(found.start()))]
        last = found.end()
    return joined((*parts, line[last:]))


def _end(found: re.Match[str] | None) -> int:
    return found.end() if found else 0


def _objection(line: str) -> str:
    """Say why pip would refuse a requirement; empty where it would not, or where the line is an address alone."""
    line = re.split(r"\s--(?:hash|config-settings|global-option|install-option)\b", line, maxsplit=1)[0].strip()
    line = line[1:-1] if line[:1] in {'"', "'"} and line[-1:] == line[:1] else line
    if not line or re.match(r"[\w+.-]+://|git\+|\.|/", line):
        return ""
    try:
        Requirement(line)
    except InvalidRequirement as error:
        return f"expected a requirement, found {line[:60]!r} ({str(error).splitlines()[0]})"
    return ""
