"""Remarks that make the next ref a pin, or silence one.

`# renovate: datasource=git-refs depName=a packageName=https://host/a/b branch=main` is how that tool is told; only what
it looks up in a repository counts here. `# watcher: upstream=https://host/a/b [variant=rocm]` is our own, in any file
that has remarks; `# watcher: ignore [reason]` silences its own line, or the next one where it stands alone.
"""

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from watcher.model import RefKind
from watcher.pins.address import archive_source, normalise
from watcher.pins.checkout import Checkout
from watcher.pins.format import Broken
from watcher.pins.sites import Pick, Sighting, is_upstream_ref
from watcher.pins.text import Text, written
from watcher.refkind import bare_ref, is_commit, is_version_like

_REMARK = re.compile(
    r"(?P<before>.*?)(?:#|//|--|;+|<!--|/\*|%|\*|\"|\bdnl\b|\bREM\b|::)\s*(?P<tool>renovate|watcher):\s*(?P<rest>[^\n]*?)\s*(?:-->|\*/)?\s*",
    re.IGNORECASE,
)
_FIELD = re.compile(r"([A-Za-z_]\w*)\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|(\S+))")
_COMMENT = re.compile(r"\s*(?:#|//|--|;|<!--|/\*|\*|%|dnl\b|REM\b|::)", re.IGNORECASE)
_TOKEN = re.compile(r"[A-Za-z0-9][\w.+/-]*")
_ASSIGNED = re.compile(r"(?:[:=]|\s)\s*[\"']?([\w][\w.+/-]*)[\"']?\s*[,;)}\]]*\s*(?:(?:#|//).*)?$")
_COMMIT = re.compile(r"(?<![0-9a-f:])([0-9a-f]{40})(?![0-9a-f])")
_DIGEST = re.compile(r"sha\d+[:-]\Z", re.IGNORECASE)
_CHECKED_OUT = re.compile(r"(?:checkout|switch|reset --hard|--branch|-b)[ =]([\w][\w.+/-]*)")
_EXTRACT = re.compile(r"\^?([\w./-]*)\(\?P?<version>.*\)\$?")
_SERVERS: Mapping[str, str] = {
    "github-tags": "https://github.com/",
    "github-releases": "https://github.com/",
    "github-digest": "https://github.com/",
    "gitlab-tags": "https://gitlab.com/",
    "gitlab-releases": "https://gitlab.com/",
    "gitea-tags": "https://gitea.com/",
    "gitea-releases": "https://gitea.com/",
    "forgejo-tags": "https://code.forgejo.org/",
    "forgejo-releases": "https://code.forgejo.org/",
    "bitbucket-tags": "https://bitbucket.org/",
    "git-tags": "",
    "git-refs": "",
}
"""What is looked up in a repository → where its names are short for."""
_SUFFIXES = frozenset(
    ".sh .bash .zsh .mk .mak .yml .yaml .toml .json5 .jsonc .cfg .conf .ini .txt .in .env .py .cmake .bzl .bazel "  # noqa: SIM905 - a list literal would be one word a line
    ".nix .tf .tofu .hcl .gradle .kts .rb .properties .ps1 .psm1 .bat .cmd .xml .just .star .bb .bbappend .inc .spec "
    ".lua .tmpl .j2 .tpl .version "
    ".versions .lock .dockerfile .containerfile .list .args .service .cue .dhall .jsonnet .libsonnet .mod".split()
)
_LARGEST = 1_000_000
_LONGEST = 2_000
_LONGEST_COMMAND = 40
_AHEAD = 4
"""How many lines below a remark its ref may stand."""


def claims(path: str) -> bool:
    """Answer whether a file may hold remarks about refs: manifests and scripts, not the sources of programs."""
    name = path.rpartition("/")[2]
    return (
        posixpath.splitext(name)[1].lower() in _SUFFIXES
        or "." not in name
        or bool(re.match(r"(?:docker|container|make|jenkins)file", name, re.IGNORECASE))
    )


def parse(path: str, text: str, _: Checkout) -> Iterable[Sighting | Broken]:
    """Find the refs that a remark makes pins; a remark of ours that cannot be followed is told."""
    for remark in _remarks(text):
        if remark.tool == "watcher" and not remark.is_ignore and "upstream" not in remark.fields:
            yield Broken(
                file=path, line=remark.line, reason="expected `watcher: upstream=ADDRESS` or `watcher: ignore`"
            )
        elif not remark.is_ignore:
            yield from _annotated(remark, path, text)


@dataclass(frozen=True, slots=True)
class Said:
    """What the remarks of a file say about its lines."""

    silent: Mapping[int, str]
    """Line that a remark silences → the reason that it gives."""
    told: Mapping[int, frozenset[tuple[str | None, str]]]
    """Line that a remark of ours explains → the upstream and the variant that it names."""


def said(path: str, text: str) -> Said:
    """Return what the remarks of a file say about its lines."""
    return Said(ignored(text), _told(path, text))


def applied(sightings: Iterable[Sighting], remarks: Mapping[str, Said]) -> Iterator[Sighting]:
    """Leave out what a remark silences; where a remark of ours explains a line, that is what the line means.

    `remarks` are those of each file that has some.
    """
    for sighting in sightings:
        pin = sighting.pin
        here = remarks.get(pin.file)
        meant = here.told.get(pin.line) if here else None
        is_silent = here is not None and pin.line in here.silent
        if not is_silent and (meant is None or (pin.upstream, pin.variant) in meant):
            yield sighting


def _told(path: str, text: str) -> Mapping[int, frozenset[tuple[str | None, str]]]:
    told: dict[int, set[tuple[str | None, str]]] = {}
    for remark in _remarks(text):
        if remark.tool == "watcher" and "upstream" in remark.fields:
            for found in _annotated(remark, path, text):
                if isinstance(found, Sighting):
                    told.setdefault(found.pin.line, set()).add((found.pin.upstream, found.pin.variant))
    return {line: frozenset(meant) for line, meant in told.items()}


def ignored(text: str) -> Mapping[int, str]:
    """Return the lines that a remark silences, each with the reason that it gives."""
    lines = text.split("\n")
    found: dict[int, str] = {}
    for remark in _remarks(text):
        if remark.is_ignore:
            line = remark.line if remark.is_beside else _next_line(lines, remark.line)
            if line is not None:
                found[line] = remark.reason
    return found


# --- remarks ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class _Remark:
    """One remark for a tool."""

    tool: str
    line: int
    fields: Mapping[str, str]
    is_ignore: bool
    reason: str
    is_beside: bool
    """Something else stands before it on its line."""


def _remarks(text: str) -> Iterator[_Remark]:
    if len(text) > _LARGEST or ("renovate:" not in text and "watcher:" not in text):
        return
    for number, line in enumerate(text.split("\n"), 1):
        if len(line) > _LONGEST or ("renovate:" not in line and "watcher:" not in line):
            continue
        found = _REMARK.fullmatch(line)
        if found is None:
            continue
        rest = found["rest"]
        ignore = re.match(r"ignore\b[\s:–-]*(.*)", rest) if found["tool"].lower() == "watcher" else None
        fields = {name: a or b or c for name, a, b, c in _FIELD.findall(rest)}
        yield _Remark(
            tool=found["tool"].lower(),
            line=number,
            fields=fields,
            is_ignore=ignore is not None,
            reason=ignore[1].strip() if ignore else "",
            is_beside=bool(found["before"].strip(" \t*")),
        )


def _next_line(lines: list[str], line: int) -> int | None:
    """Return the next line that holds something."""
    below = range(line, min(line + _AHEAD, len(lines)))
    return next((at + 1 for at in below if lines[at].strip() and not _COMMENT.match(lines[at])), None)


def _upstream(remark: _Remark) -> str | None:
    if remark.tool == "watcher":
        address = remark.fields["upstream"]
        return normalise(address) or (normalise(f"https://{address}") if "." in address.partition("/")[0] else None)
    server = _SERVERS.get(remark.fields.get("datasource", ""))
    fields = remark.fields
    name = fields.get("packageName") or fields.get("lookupName") or fields.get("depName") or ""
    if server is None or not name:
        return None
    if "://" in name or name.startswith("git@"):
        return normalise(name)
    if not server and "." in name.partition("/")[0]:
        return normalise(f"https://{name}")
    base = fields.get("registryUrl") or server or "https://github.com/"
    return normalise(f"{base.rstrip('/')}/{name.strip('/')}")


def _annotated(remark: _Remark, path: str, text: str) -> Iterator[Sighting | Broken]:
    upstream = _upstream(remark)
    lines = text.split("\n")
    line = remark.line if remark.is_beside else _next_line(lines, remark.line)
    if upstream is None:
        if remark.tool == "watcher":
            yield Broken(file=path, line=remark.line, reason="expected the address of a repository behind `upstream=`")
        return
    if line is None or len(lines[line - 1]) > _LONGEST:
        return
    whole = lines[line - 1]
    source = written(whole[: _start_of_remark(whole)] if remark.is_beside else whole, path, line)
    ref = ref_like(source) or _continued(path, lines, line)
    if ref is None:
        return
    hint = RefKind.TAG if "refs" not in remark.fields.get("datasource", "refs") and not is_commit(ref.chars) else None
    sighting = Pick(upstream=upstream, url=source, ref=ref, command=source.place(), hint=hint).sighting(
        _branch(remark, ref.chars)
    )
    extract = _EXTRACT.fullmatch(remark.fields.get("extractVersion", ""))
    full = (
        f"{extract[1]}{sighting.pin.ref}" if extract and extract[1] and sighting.pin.ref else sighting.pin.resolved_ref
    )
    variant = remark.fields.get("variant") or sighting.pin.variant
    yield sighting._replace(pin=replace(sighting.pin, resolved_ref=full, variant=variant))


def _continued(path: str, lines: list[str], line: int) -> Text | None:
    """Return the commit, or the version behind a checkout, of the lines in which a command goes on."""
    last = line
    while last < min(len(lines), line + _LONGEST_COMMAND) and lines[last - 1].rstrip().endswith("\\"):
        last += 1
    for number in range(line + 1, last + 1):
        source = written(lines[number - 1][:_LONGEST], path, number)
        found = _COMMIT.search(source.chars) or _CHECKED_OUT.search(source.chars)
        if found:
            return source[found.start(1) : found.end(1)]
    return None


def _start_of_remark(line: str) -> int:
    found = _REMARK.fullmatch(line)
    return found.end("before") if found else len(line)


def _branch(remark: _Remark, ref: str) -> str | None:
    branch = (
        remark.fields.get("branch")
        or remark.fields.get("ref")
        or (remark.fields.get("currentValue") if is_commit(ref) else None)
    )
    return branch if branch and bare_ref(ref) != branch else None


def ref_like(line: Text) -> Text | None:
    """Return the ref of a line: a commit id before a version before whatever is set there last."""
    archive = next((word for word in re.finditer(r"https?://[^\s\"'<>|;,`\\]+", line.chars)), None)
    source = archive_source(archive[0]) if archive else None
    if archive and source and source.ref:
        return line[archive.start() + source.ref.start : archive.start() + source.ref.end]
    commit = _COMMIT.search(line.chars)
    if commit:
        return line[commit.start(1) : commit.end(1)]
    tokens = [
        (found.start(), found[0].rstrip("."))
        for found in _TOKEN.finditer(line.chars)
        if not _DIGEST.search(line.chars, 0, found.start())
    ]
    for is_ref in (is_commit, is_version_like):
        for start, word in tokens:
            if is_ref(word):
                return line[start : start + len(word)]
    found = _ASSIGNED.search(line.chars)
    if found and is_upstream_ref(found[1]) and not _DIGEST.search(line.chars, 0, found.start(1)):
        return line[found.start(1) : found.end(1)]
    return None
