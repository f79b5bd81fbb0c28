"""Write a first configuration from what a checkout pins, with remarks that say why each line stands there."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from pathlib import Path

from watcher.config import load
from watcher.downstreams import local
from watcher.errors import UsageError
from watcher.model import Pin
from watcher.pins import discover, identify
from watcher.plural import counted
from watcher.report.text import safe

ANY = "any"


def write(folder: Path, target: Path, *, now: datetime) -> tuple[Pin, ...]:
    """Write the configuration for a checkout and return its pins; raise UsageError where the file is there already."""
    if target.exists():
        raise UsageError(f"{target}: it is there already and is never overwritten; name another file with --output")
    checkout = local(folder)
    pins = tuple(identify(discover(checkout).pins, folder.resolve().name))
    if not pins:
        raise UsageError(f"{folder}: no pin was found there, so there is nothing to watch")
    text = configuration(pins, folder.resolve(), checkout.origin, now=now)
    try:
        with target.open("x", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise UsageError(f"{target}: cannot be written: {error.strerror}") from error
    load(target)
    return pins


def configuration(pins: Sequence[Pin], folder: Path, origin: str | None, *, now: datetime) -> str:
    """Return a configuration that watches the pins of a checkout at `folder`."""
    files = dict.fromkeys(pin.file for pin in pins)
    lines = [
        f"# Written by `watcher init` on {now:%Y-%m-%d}: {counted(len(pins), 'pin')} in {counted(len(files), 'file')}.",
        "# Every key has a default; `watcher config schema` lists them all. Delete what you do not need.",
        "downstreams:",
        f"  - name: {_quoted(folder.name)}",
        f"    path: {_quoted(str(folder))}",
    ]
    if origin:
        lines.append(f"    # To follow its branch instead of this folder:  repository: {_quoted(safe(origin))}")
    lines += ["    manifests:", *_manifests(pins)]
    return "\n".join([*lines, *_upstreams(pins), *_relatives(pins)]) + "\n"


def _manifests(pins: Sequence[Pin]) -> Iterable[str]:
    """Name each file with its variant: what its names tell, or what it must be beside a sibling for another variant."""
    by_file: dict[str, list[Pin]] = {}
    for pin in pins:
        by_file.setdefault(pin.file, []).append(pin)
    variants = {file: {pin.variant for pin in mine} for file, mine in by_file.items()}
    for file, mine in by_file.items():
        count = counted(len(mine), "pin")
        told = variants[file]
        beside = _sibling(file, variants)
        if told != {ANY} and len(told) == 1:
            yield f"      - {{files: {_quoted(file)}, variant: {_quoted(*told)}}}  # {count}; its names say so"
        elif told == {ANY} and beside:
            yield f"      - {{files: {_quoted(file)}, variant: cuda}}  # {count}; a guess: {safe(beside)} is for rocm"
        else:
            yield f"      - {_quoted(file)}  # {count}"


def _sibling(file: str, variants: dict[str, set[str]]) -> str | None:
    """Return the file for ROCm that stands beside one of the same name: Dockerfile.rocm beside Dockerfile."""
    return next((other for other, told in variants.items() if told == {"rocm"} and other.startswith(f"{file}.")), None)


def _upstreams(pins: Sequence[Pin]) -> Iterable[str]:
    """Name the upstreams that are pinned to something fixed, with the branch that the files say it is on."""
    fixed: dict[str, list[Pin]] = {}
    for pin in pins:
        if pin.upstream and not pin.ref_kind.is_floating and pin.ref_kind != "unresolved":
            fixed.setdefault(pin.upstream, []).append(pin)
    tracked = {
        upstream: branches
        for upstream, mine in fixed.items()
        if (branches := sorted({pin.branch for pin in mine if pin.branch}))
    }
    if tracked:
        yield "upstreams:"
        for upstream, branches in tracked.items():
            names = ", ".join(map(_quoted, branches))
            yield f"  {_quoted(upstream)}:"
            yield f"    track: [{names}]  # the files say that the pinned commit is on it"
    others = [upstream for upstream in fixed if upstream not in tracked]
    if others:
        yield "# The default branch is followed and all shipped files matter, unless you say otherwise of an upstream:"
        yield from () if tracked else ("# upstreams:",)
        yield f'#   {_quoted(others[0])}: {{track: [main], paths: ["src/**"]}}'


def _relatives(pins: Sequence[Pin]) -> Iterable[str]:
    """Guess that repositories of one name and several owners are one dependency."""
    by_name: dict[str, dict[str, None]] = {}
    for pin in pins:
        if pin.upstream:
            by_name.setdefault(pin.name.lower(), {})[pin.upstream] = None
    groups = [list(addresses) for addresses in by_name.values() if len(addresses) > 1]
    if groups:
        yield "relatives:  # equal names under several owners: one dependency, a guess"
        for addresses in groups:
            yield f"  - [{', '.join(map(_quoted, addresses))}]"


def _quoted(text: str) -> str:
    """Return a YAML scalar that reads back as the same text, quoted only where it must be."""
    if text and all(char.isascii() and (char.isalnum() or char in "/._-") for char in text) and text[0].isalpha():
        return text
    if "'" not in text and text.isprintable():
        return f"'{text}'"
    escaped = "".join(char if char.isprintable() and char not in '"\\' else f"\\u{ord(char):04x}" for char in text)
    return f'"{escaped}"'
