"""The addresses that commands fetch, with the refs that stand in them or in options beside them."""

import re
from collections.abc import Iterable
from dataclasses import replace

from watcher.pins import gitcommands
from watcher.pins.address import Source, archive_urls, context_source, normalise, vcs_urls
from watcher.pins.call import Call
from watcher.pins.gomod import upstream_of
from watcher.pins.sites import Pick
from watcher.pins.text import Span, Text
from watcher.refkind import is_commit, is_version_like

WITH_URL = {
    "cargo": ("--git", ("--rev", "--tag", "--branch")),
    "repo": ("-u", ("-b", "--manifest-branch")),
    "west": ("-m", ("--mr", "--manifest-rev")),
    "git-repo": ("-u", ("-b", "--manifest-branch")),
}
"""Tool → the option that names an address, and those that name its ref."""
_NPM = re.compile(r"(?:github:)?(?P<repo>[\w.-]+/[\w.-]+)#(?P<ref>[^\s:]+)")
_GO_QUERIES = frozenset({"latest", "upgrade", "patch", "none"})
"""What stands for a released version of a Go module."""
_GO = re.compile(r"(?P<module>[\w.-]+\.[\w-]+/[\w./~-]+)@(?:v\d+\.\d+\.\d+-(?:[\w.]+\.)?\d{14}-)?(?P<ref>[\w./-]+)")
_GO_RELEASE = re.compile(r"v\d.*")


def fetch(call: Call, words: tuple[Text, ...]) -> None:
    """Remember the requirements and archives whose addresses stand in some words."""
    for text in words:
        if "://" in text.chars or "git+" in text.chars:
            _record_all(call, text, [*vcs_urls(text.chars), *archive_urls(text.chars)])


def requirements(call: Call, text: Text) -> None:
    """Remember the requirements of a line that a command writes into a file."""
    _record_all(call, text, vcs_urls(text.chars))


def _record_all(call: Call, text: Text, sources: Iterable[tuple[int, Source]]) -> None:
    for offset, source in sources:
        _record(call, text[offset:], source)


def _record(call: Call, text: Text, source: Source) -> None:
    """Remember an address that carries its own ref."""
    call.shell.picks.append(
        Pick(
            upstream=source.upstream,
            url=text,
            ref=text[source.ref.start : source.ref.end] if source.ref else None,
            command=text.place(),
            guard=call.arm.guard,
            labels=call.arm.labels,
            hint=source.hint,
            branch=text[source.branch.start : source.branch.end].chars if source.branch else None,
        )
    )


def with_url(call: Call) -> bool:
    """Read tools that take an address and a ref as options: `cargo install --git URL --rev REF`."""
    url_option, ref_options = WITH_URL[call.name]
    options = _options(call)
    url = options.get(url_option) or options.get("--manifest-url")
    upstream = normalise(url.chars) if url else None
    if url is None or upstream is None:
        return False
    ref = next((options[name] for name in ref_options if name in options), None)
    call.shell.picks.append(
        Pick(
            upstream=upstream, url=url, ref=ref, command=call.place, guard=call.arm.guard, labels=call.arm.labels,
            hint=gitcommands.HINTS.get(next((name for name in ref_options if name in options), "")),
        )
    )  # fmt: skip
    return True


def _options(call: Call) -> dict[str, Text]:
    found: dict[str, Text] = {}
    for at, text in enumerate(call.argv[1:], 1):
        name, equals, _ = text.chars.partition("=")
        if equals and name.startswith("-"):
            found.setdefault(name, text[len(name) + 1 :])
        elif name.startswith("-") and at + 1 < len(call.argv):
            found.setdefault(name, call.argv[at + 1])
    return found


def docker(call: Call) -> None:
    """Read a git address as build context: `docker build https://host/a/b.git#ref`."""
    if "build" in call.words:
        for text in call.argv[1:]:
            source = context_source(text.chars)
            if source is not None:
                _record(call, text, source)


def npm(call: Call) -> None:
    """Read `npm install owner/name#ref`."""
    for text in call.argv[2:]:
        found = _NPM.fullmatch(text.chars)
        if found:
            upstream = f"https://github.com/{found['repo'].removesuffix('.git')}"
            call.shell.picks.append(
                Pick(
                    upstream=upstream, url=text, ref=text[found.start("ref") : found.end("ref")], command=call.place,
                    guard=call.arm.guard, labels=call.arm.labels,
                )
            )  # fmt: skip


def go(call: Call) -> None:
    """Read `go install module@commit`, also where the commit ends a pseudo-version."""
    for text in call.argv[2:]:
        found = _GO.fullmatch(text.chars)
        upstream = upstream_of(found["module"]) if found and _is_go_ref(found["ref"]) else None
        if found and upstream:
            call.shell.picks.append(
                Pick(
                    upstream=upstream, url=text, ref=text[found.start("ref") :], command=call.place,
                    guard=call.arm.guard, labels=call.arm.labels,
                )
            )  # fmt: skip


def _is_go_ref(ref: str) -> bool:
    """Answer whether a version of a Go module is a commit or a branch and not a release."""
    is_released = ref in _GO_QUERIES or _GO_RELEASE.fullmatch(ref) or is_version_like(ref)
    return is_commit(ref) or not is_released


def gh(call: Call) -> bool:
    """Read `gh repo clone` as the git command that it runs; answer whether it is one."""
    if call.words[:2] != ["repo", "clone"] or len(call.argv) < 4:  # noqa: PLR2004 - gh repo clone NAME
        return False
    name = call.argv[3]
    url = (
        name
        if "://" in name.chars or "@" in name.chars
        else Text((Span("https://github.com/", name.place()), *name.spans))
    )
    rest = tuple(text for text in call.argv[4:] if text.chars != "--")
    gitcommands.run(replace(call, argv=(call.argv[0], Text((Span("clone", call.place),)), *rest[:0], url, *rest)))
    return True
