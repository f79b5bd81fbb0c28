"""Elixir and Erlang: `mix.exs`, `mix.lock`, `rebar.config`, `rebar.lock`."""

import re
from collections.abc import Iterable, Iterator, Mapping

from watcher.model import RefKind
from watcher.pins.checkout import Checkout
from watcher.pins.entries import entry
from watcher.pins.format import Broken
from watcher.pins.lines import Lines
from watcher.pins.quoted import constants, on_forge, pairs, without_comments
from watcher.pins.sites import Sighting

_REFS: Mapping[str, RefKind | None] = {"ref": None, "tag": RefKind.TAG, "branch": RefKind.BRANCH}
_TUPLE = re.compile(r"\{\s*:(?P<name>\w+)\s*,(?P<body>[^{}]*(?:#?\{[^{}]*\}[^{}]*){0,8})\}")
_LOCKED = re.compile(r"\{:git,\s*\"(?P<url>[^\"\n]+)\",\s*\"(?P<ref>[0-9a-f]+)\",\s*\[(?P<options>[^\]]*)\]")
_ERLANG = re.compile(
    r"\{\s*(?:git|git_subdir)\s*,\s*\"(?P<url>[^\"\n]+)\"(?:\s*,\s*(?:\{\s*(?P<key>ref|tag|branch)\s*,\s*\"(?P<value>[^\"\n]+)\"\s*\}|\"(?P<ref>[^\"\n]*)\"))?"
)


def claims(path: str) -> bool:
    """Answer whether a file lists the dependencies of an Elixir or Erlang project."""
    return path.rpartition("/")[2] in {"mix.exs", "mix.lock", "rebar.config", "rebar.lock", "rebar3.config"}


def parse(path: str, text: str, _: Checkout) -> Iterable[Sighting | Broken]:
    """Find the dependencies with a repository."""
    if "git" not in text:
        return
    if path.endswith("mix.exs"):
        yield from _listed(Lines(without_comments(text, "#"), path))
    elif path.endswith("mix.lock"):
        yield from _locked(Lines(text, path))
    else:
        yield from _erlang(Lines(without_comments(text, "%"), path))


def _listed(lines: Lines) -> Iterator[Sighting | Broken]:
    known = constants(lines)
    for found in _TUPLE.finditer(lines.text):
        values = pairs(lines, *found.span("body"), known)
        url = values.get("git") or (on_forge("github.com", values["github"]) if "github" in values else None)
        key = next((key for key in _REFS if key in values), None)
        sighting = entry(url, values[key] if key else None, hint=_REFS[key] if key else None) if url else None
        if sighting is not None:
            yield sighting
    if lines.text.count("{") != lines.text.count("}"):
        line = lines.line(max(lines.text.rfind("{"), 0))
        yield Broken(file=lines.file, line=line, reason="expected as many `}` as `{`")


def _locked(lines: Lines) -> Iterator[Sighting | Broken]:
    for number, line in lines:
        if "{:git," in line and not _LOCKED.search(line):
            yield Broken(
                file=lines.file, line=number, reason=f"expected an address and a commit, found {line.strip()[:60]!r}"
            )
    for found in _LOCKED.finditer(lines.text):
        options = pairs(lines, *found.span("options"), {})
        asked = next((options[key].chars for key in ("tag", "branch", "ref") if key in options), None)
        sighting = entry(lines.cut(*found.span("url")), lines.cut(*found.span("ref")), requested=asked)
        if sighting is not None:
            yield sighting


def _erlang(lines: Lines) -> Iterator[Sighting | Broken]:
    for found in _ERLANG.finditer(lines.text):
        name = "value" if found["value"] else "ref"
        ref = lines.cut(*found.span(name)) if found[name] else None
        sighting = entry(lines.cut(*found.span("url")), ref, hint=_REFS.get(found["key"] or ""))
        if sighting is not None:
            yield sighting
    if lines.text.count("{") != lines.text.count("}"):
        line = lines.line(max(lines.text.rfind("{"), 0))
        yield Broken(file=lines.file, line=line, reason="expected as many `}` as `{`")
