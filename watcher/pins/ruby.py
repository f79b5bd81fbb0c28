"""Gemfiles and Podfiles, and their locks: gems and pods from a repository."""

import re
from collections.abc import Iterable, Iterator, Mapping

from watcher.model import RefKind
from watcher.pins.checkout import Checkout
from watcher.pins.entries import entry
from watcher.pins.format import Broken
from watcher.pins.lines import Lines
from watcher.pins.quoted import constants, on_forge, pairs, without_comments
from watcher.pins.sites import Sighting
from watcher.pins.text import Span, Text, written

_MANIFESTS = frozenset({"Gemfile", "gems.rb", "Podfile", "Pluginfile", "Appraisals"})
_LOCKS = frozenset({"Gemfile.lock", "gems.locked", "Podfile.lock"})
_STATEMENT = re.compile(
    r"^[ \t]*(?P<verb>gem|pod|plugin|git|github|gitlab|bitbucket)\b[ \t(]*(?P<body>(?:[^\n]*,[ \t]*\n){0,12}[^\n]*)",
    re.MULTILINE,
)
_FIRST = re.compile(r"[\"'](?P<value>[^\"'\n]+)[\"']")
_SOURCE = re.compile(
    r"git_source\(\s*:(?P<name>\w+)\s*\)\s*(?:\{|do)\s*\|\s*(?P<var>\w+)\s*\|\s*[\"'](?P<url>[^\"'\n]+)[\"']"
)
_REFS: Mapping[str, RefKind | None] = {
    "ref": None,
    "commit": None,
    "tag": RefKind.TAG,
    "branch": RefKind.BRANCH,
    "revision": None,
}
_FORGES = {"github": "github.com", "gitlab": "gitlab.com", "bitbucket": "bitbucket.org"}
_LOCKED = re.compile(r"^  (?P<key>remote|revision|branch|tag|ref): (?P<value>\S+)$")
_POD = re.compile(r"^    :(?P<key>git|commit|tag|branch): (?P<quote>[\"']?)(?P<value>\S+?)(?P=quote)$")


def claims(path: str) -> bool:
    """Answer whether a file lists gems or pods."""
    name = path.rpartition("/")[2]
    return (
        name in _MANIFESTS
        or name in _LOCKS
        or name.endswith((".gemfile", ".gemfile.lock"))
        or name.startswith("Gemfile.")
    )


def parse(path: str, text: str, _: Checkout) -> Iterable[Sighting | Broken]:
    """Find the gems with a repository of their own, or the commits of a lock."""
    if "git" not in text:
        return
    if path.endswith("Podfile.lock"):
        yield from _locked_pods(path, text)
    elif path.endswith((".lock", ".locked")):
        yield from _locked(path, text)
    else:
        yield from _listed(Lines(without_comments(text, "#"), path))


def _listed(lines: Lines) -> Iterator[Sighting | Broken]:
    known = constants(lines)
    forges = {found["name"]: (found["var"], found["url"]) for found in _SOURCE.finditer(lines.text)}
    for found in _STATEMENT.finditer(lines.text):
        start, end = found.span("body")
        values = pairs(lines, start, end, known)
        first = _FIRST.match(found["body"])
        if first is not None and found["verb"] in {"git", *_FORGES}:
            values[found["verb"]] = lines.cut(start + first.start("value"), start + first.end("value"))
        elif found["verb"] not in {"git", *_FORGES} and first is None:
            line = lines.line(found.start())
            yield Broken(file=lines.file, line=line, reason=f"expected a name in quotes, found {found['body'][:40]!r}")
        url = _address(values, forges)
        sighting = _pinned(url, values) if url is not None else None
        if sighting is not None:
            yield sighting


def _address(values: Mapping[str, Text], forges: Mapping[str, tuple[str, str]]) -> Text | None:
    if "git" in values:
        return values["git"]
    for name, (variable, url) in forges.items():
        if name in values:
            path = values[name]
            return Text((Span(url.replace("#{" + variable + "}", path.chars), path.place()),))
    for name, host in _FORGES.items():
        if name in values:
            path = values[name]
            pull = re.match(r"https://github\.com/([\w.-]+/[\w.-]+)/pull/\d+", path.chars)
            if pull:
                return on_forge(host, Text((Span(pull[1], path.place()),)))
            full = path if "/" in path.chars else Text((*path.spans, Span("/" + path.chars, path.place())))
            return on_forge(host, full)
    return None


def _pinned(url: Text, values: Mapping[str, Text]) -> Sighting | None:
    key = next((key for key in _REFS if key in values), None)
    branch = values["branch"].chars if key != "branch" and "branch" in values else None
    return entry(url, values[key] if key else None, hint=_REFS[key] if key else None, branch=branch)


def _locked(path: str, text: str) -> Iterator[Sighting]:
    section: dict[str, Text] = {}
    is_git = False
    for number, line in enumerate([*text.split("\n"), "END"], 1):
        if line and not line.startswith(" "):
            yield from _section(section)
            section, is_git = {}, line == "GIT"
        found = _LOCKED.match(line) if is_git else None
        if found and found["key"] == "remote" and "remote" in section:
            yield from _section(section)
            section = {}
        if found:
            section[found["key"]] = written(found["value"], path, number)


def _section(section: Mapping[str, Text]) -> Iterator[Sighting]:
    if "remote" not in section or "revision" not in section:
        return
    asked = next((section[key].chars for key in ("tag", "branch", "ref") if key in section), None)
    sighting = entry(section["remote"], section["revision"], requested=asked)
    if sighting is not None:
        yield sighting


def _locked_pods(path: str, text: str) -> Iterator[Sighting]:
    """Read what was checked out; the section before it repeats what the Podfile asks for."""
    head, mark, tail = text.partition("\nCHECKOUT OPTIONS:\n")
    line = head.count("\n") + 3
    pod: dict[str, Text] = {}
    for number, raw in enumerate([*tail.split("\n"), "END"] if mark else (), line):
        found = _POD.match(raw)
        if found:
            pod[found["key"]] = written(found["value"], path, number)
            continue
        if "git" in pod:
            key = next((key for key in ("commit", "tag", "branch") if key in pod), None)
            sighting = entry(pod["git"], pod[key] if key else None, hint=_REFS[key] if key else None)
            if sighting is not None:
                yield sighting
        pod = {}
        if raw and not raw.startswith(" "):
            return
