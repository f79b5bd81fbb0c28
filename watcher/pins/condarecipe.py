"""Conda recipes (`meta.yaml`, `recipe.yaml`): git sources and archives, with the variables that they set."""

import re
from collections.abc import Iterable, Iterator, Mapping

from watcher.model import RefKind
from watcher.pins.address import archive_source
from watcher.pins.checkout import Checkout
from watcher.pins.entries import carried, entry
from watcher.pins.format import Broken
from watcher.pins.sites import Sighting
from watcher.pins.text import Text, joined, unknown, written

_SET = re.compile(
    r"\s*\{%-?\s*set\s+(?P<name>\w+)\s*=\s*(?P<quote>[\"'])(?P<value>[^\"']*)(?P=quote)\s*-?%\}\s*(?:#.*)?"
)
_ENTRY = re.compile(r"(?P<indent>\s*)(?P<item>-\s+)?(?P<key>[A-Za-z_]\w*)\s*:(?:\s+(?P<value>.*))?")
_HOLE = re.compile(r"\$?\{\{\s*(?P<name>\w+)\s*\}\}|\$?\{\{[^{}]*\}\}")
_COMMENT = re.compile(r"(?:^|\s)#.*$")
_SELECTOR = re.compile(r"#\s*\[(?P<condition>[^\]]+)\]")
_GIT_KEYS = ("git_url", "git")
_REFS: Mapping[str, RefKind | None] = {
    "git_rev": None,
    "rev": None,
    "git_tag": RefKind.TAG,
    "tag": RefKind.TAG,
    "git_branch": RefKind.BRANCH,
    "branch": RefKind.BRANCH,
}


def claims(path: str) -> bool:
    """Answer whether a file is a recipe."""
    return re.fullmatch(r"(?:meta|recipe)\.ya?ml(?:\.(?:in|j2|template))?", path.rpartition("/")[2]) is not None


def parse(path: str, text: str, _: Checkout) -> Iterable[Sighting | Broken]:
    """Find the sources; templates stand between the lines, so that the file is read by lines."""
    if not re.search(r"\bgit(?:_url)?\s*:|/archive/|\btarball/", text):
        return
    known: dict[str, Text] = {}
    source: dict[str, Text] = {}
    labels: list[str] = []
    section, is_broken = "", False
    for number, raw in enumerate([*text.split("\n"), "end:"], 1):
        setting = _SET.fullmatch(raw)
        if setting:
            known[setting["name"]] = written(setting["value"], path, number).named(setting["name"])
            continue
        line = _COMMENT.sub("", raw)
        found = _ENTRY.fullmatch(line.rstrip())
        if found is None:
            is_wrong = "\t" in raw[: len(raw) - len(raw.lstrip())] and not is_broken and line.strip()
            if is_wrong:
                is_broken = True
                yield Broken(file=path, line=number, reason="expected spaces, found a tab at the start of the line")
            continue
        if not found["indent"] and not found["item"]:
            yield from _source(source, labels)
            source, labels, section = {}, [], found["key"]
        elif found["item"]:
            yield from _source(source, labels)
            source, labels = {}, []
        value = _value(found["value"] or "", path, number, known)
        if section == "context" and value:
            known[found["key"]] = value.named(found["key"])
        elif section == "source" and value:
            source[found["key"]] = value
            selector = _SELECTOR.search(raw)
            labels += [selector["condition"]] if selector else []


def _value(raw: str, path: str, line: int, known: Mapping[str, Text]) -> Text:
    text = written(raw.strip().strip("\"'"), path, line)
    parts: list[Text] = []
    last = 0
    for found in _HOLE.finditer(text.chars):
        parts += [text[last : found.start()], known.get(found["name"] or "", unknown(found[0], text.place()))]
        last = found.end()
    return joined([*parts, text[last:]])


def _source(source: Mapping[str, Text], labels: list[str]) -> Iterator[Sighting]:
    url = next((source[key] for key in _GIT_KEYS if key in source), None)
    sighting: Sighting | None = None
    if url is not None:
        key = next((key for key in _REFS if key in source), None)
        sighting = entry(url, source[key] if key else None, hint=_REFS[key] if key else None, labels=labels)
    elif "url" in source and archive_source(source["url"].chars):
        sighting = carried(source["url"], labels=labels)
    if sighting is not None:
        yield sighting
