"""Every place in a downstream's files where an upstream git repository is pinned.

A format is a module with `claims` and `parse`, and a row in `FORMATS`. `discover` reads a `Checkout` with all of them.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from watcher.model import Pin
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
from watcher.pins.identity import identify
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Discovery:
    """What was found in a checkout."""

    pins: tuple[Pin, ...]
    """Sorted by file and line; without ids, which `identify` gives."""
    warnings: tuple[Broken, ...]


def is_claimed(path: str) -> bool:
    """Answer whether some format reads files of this path."""
    return any(fmt.claims(path) for fmt in FORMATS.values())


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
    warnings = [it for it in found if isinstance(it, Broken)]
    sightings = annotations.applied([it for it in found if not isinstance(it, Broken)], checkout.texts)
    return Discovery(pins=merged(sightings, variant), warnings=tuple(_first_of_each_file(warnings)))


def _read(checkout: Checkout, is_wanted: Callable[[str], bool]) -> Iterator[Sighting | Broken]:
    """Read each wanted file with every format that claims it."""
    for path, text in sorted(checkout.texts.items()):
        if is_wanted(path) and _may_tell(text):
            for fmt in FORMATS.values():
                if fmt.claims(path):
                    yield from fmt.parse(path, text, checkout)


def _may_tell(text: str) -> bool:
    lower = text.lower()
    return any(word in lower for word in _WORDS) or any(pattern.search(lower) for pattern in _PATTERNS)


def _first_of_each_file(warnings: Iterable[Broken]) -> Iterable[Broken]:
    return {warning.file: warning for warning in reversed(list(warnings))}.values()


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
