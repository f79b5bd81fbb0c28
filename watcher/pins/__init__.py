"""Every place in a downstream's files where an upstream git repository is pinned.

A format is a module with `claims` and `parse`, and a row in `FORMATS`. `discover` reads a `Checkout` with all of them.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from watcher.model import Pin
from watcher.naming import identify
from watcher.pins import (
    annotations,
    apptainer,
    bake,
    batch,
    bazel,
    beam,
    buildscript,
    cargo,
    cmake,
    compose,
    composer,
    conan,
    condarecipe,
    dependencylist,
    dockerfile,
    environment,
    gclient,
    gitmodules,
    gomod,
    jenkinsfile,
    justfile,
    kustomize,
    makefile,
    mesonwrap,
    nix,
    nixlocks,
    npm,
    npmlocks,
    patterns,
    pipeline,
    pkgbuild,
    powershell,
    precommit,
    pubspec,
    pyproject,
    python,
    pythonlocks,
    repomanifest,
    requirements,
    ruby,
    setupcfg,
    shellscript,
    spack,
    swift,
    terraform,
    vcpkg,
    west,
    workflow,
    yocto,
)
from watcher.pins.checkout import Checkout, read
from watcher.pins.format import Broken, Format
from watcher.pins.limit import within
from watcher.pins.merge import merged
from watcher.pins.patterns import Pattern
from watcher.pins.sites import Sighting

FORMATS: Mapping[str, Format] = {
    "dockerfile": dockerfile,
    "requirements": requirements,
    "gitmodules": gitmodules,
    "shell": shellscript,
    "apptainer": apptainer,
    "cmake": cmake,
    "bazel": bazel,
    "gclient": gclient,
    "nix": nix,
    "nix-locks": nixlocks,
    "yocto": yocto,
    "west": west,
    "repo-manifest": repomanifest,
    "pkgbuild": pkgbuild,
    "spack": spack,
    "vcpkg": vcpkg,
    "conan": conan,
    "meson-wrap": mesonwrap,
    "pyproject": pyproject,
    "python": python,
    "python-locks": pythonlocks,
    "setup-cfg": setupcfg,
    "conda-environment": environment,
    "conda-recipe": condarecipe,
    "cargo": cargo,
    "go": gomod,
    "npm": npm,
    "npm-locks": npmlocks,
    "ruby": ruby,
    "swift": swift,
    "beam": beam,
    "composer": composer,
    "pubspec": pubspec,
    "workflow": workflow,
    "pre-commit": precommit,
    "compose": compose,
    "bake": bake,
    "make": makefile,
    "pipeline": pipeline,
    "build-script": buildscript,
    "dependency-list": dependencylist,
    "terraform": terraform,
    "kustomize": kustomize,
    "just": justfile,
    "jenkins": jenkinsfile,
    "powershell": powershell,
    "batch": batch,
    "annotations": annotations,
}
_WORDS = ("git", "://", "baseline", "gh ", "gh:", "npm ", "yarn ", "args", '"variable"', "build-arg", "uses:")
_PATTERNS = (re.compile(r"\.sh\b"), re.compile(r"/[\w.-]+#"), re.compile(r"[0-9a-f]{40}"))
"""What a file lacks that neither pins anything nor hands a ref to a script; plain words cost the least to look for."""
_LONGEST = 1.0
"""Seconds of processor time that one file may take, with all formats that claim it; slow real ones take a third."""
_LONGEST_PATH, _LONGEST_NAME = 4096, 255
"""Characters that Linux takes; git's trees may hold more, which nobody can check out."""
_GIVEN_UP = "took longer than a second to read, or ended its reader, and was given up: its pins are not watched"
_TOO_MUCH = "is nested too deeply, or takes more than 1 GiB of memory, and was given up: its pins are not watched"


@dataclass(frozen=True, slots=True, kw_only=True)
class Discovery:
    """What was found in a checkout."""

    pins: tuple[Pin, ...]
    """Sorted by file and line; without ids, which `identify` gives."""
    warnings: tuple[Broken, ...]


def is_claimed(path: str) -> bool:
    """Answer whether some format reads files of this path."""
    return any(True for _ in _claiming(path))


def _claiming(path: str) -> Iterator[Format]:
    if len(path) <= _LONGEST_PATH and len(path.rpartition("/")[2]) <= _LONGEST_NAME:
        yield from (fmt for fmt in FORMATS.values() if fmt.claims(path))


def discover(
    checkout: Checkout,
    *,
    is_wanted: Callable[[str], bool] = lambda _: True,
    variant: Callable[[str], str | None] = lambda _: None,
    extra: Sequence[Pattern] = (),
) -> Discovery:
    """Find the pins of a checkout, in those of its files that are wanted; others may still hold what these refer to.

    `variant` returns the variant that the configuration says a file's pins are for; it wins over what names tell.
    `extra` are the configuration's own patterns, which read any file.
    """
    found = [*patterns.find(extra, checkout), *_read(checkout, is_wanted)]
    seen = [it for it in found if not isinstance(it, Broken)]
    remarks = dict(_remarks(checkout, sorted({it.pin.file for it in seen})))
    given_up = [_broken(file, _GIVEN_UP) for file, said in remarks.items() if said is None]
    warnings = [*(it for it in found if isinstance(it, Broken)), *given_up]
    sightings = annotations.applied(seen, {file: said for file, said in remarks.items() if said is not None})
    return Discovery(pins=merged(sightings, variant), warnings=tuple(_first_of_each_file(warnings)))


def _read(checkout: Checkout, is_wanted: Callable[[str], bool]) -> Iterator[Sighting | Broken]:
    """Read each wanted file with every format that claims it; where that is too much, all that it found is left out."""
    readers = {
        path: formats
        for path, text in sorted(checkout.texts.items())
        if is_wanted(path) and _may_tell(text) and (formats := list(_claiming(path)))
    }
    for path, found in within(_LONGEST, lambda path: _parsed(path, readers[path], checkout), tuple(readers)):
        yield from found if found is not None else [_broken(path, _GIVEN_UP)]


def _parsed(path: str, formats: Iterable[Format], checkout: Checkout) -> list[Sighting | Broken]:
    try:
        return [found for fmt in formats for found in fmt.parse(path, checkout.texts[path], checkout)]
    except (RecursionError, MemoryError):
        pass  # the error holds all that the reader made until this block is left
    return [_broken(path, _TOO_MUCH)]


def _broken(path: str, reason: str) -> Broken:
    return Broken(file=path, line=1, reason=reason)


def _remarks(checkout: Checkout, files: Sequence[str]) -> Iterator[tuple[str, annotations.Said | None]]:
    """Read the remarks of files that have pins, within the same limit."""
    yield from within(_LONGEST, lambda file: annotations.said(file, checkout.texts.get(file, "")), files)


def _may_tell(text: str) -> bool:
    lower = text.lower()
    return any(word in lower for word in _WORDS) or any(pattern.search(lower) for pattern in _PATTERNS)


def _first_of_each_file(warnings: Sequence[Broken]) -> Iterable[Broken]:
    """Return one warning a file: that it was given up, else the first."""
    given_up = [warning for warning in warnings if warning.reason in {_GIVEN_UP, _TOO_MUCH}]
    return {warning.file: warning for warning in (*reversed(warnings), *given_up)}.values()


__all__ = [
    "FORMATS",
    "Broken",
    "Checkout",
    "Discovery",
    "Format",
    "Pattern",
    "discover",
    "identify",
    "is_claimed",
    "read",
]
