"""What is a path for: shipped code, or tests, docs, CI and tooling? And for which variant?"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from posixpath import splitext

from watcher.config.glob import is_match


class Role(StrEnum):
    """What a path is for."""

    SOURCE = "source"
    BUILD = "build"
    TEST = "test"
    DOCS = "docs"
    TOOLING = "tooling"
    VENDORED = "vendored"


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """What of an upstream matters to whom, as the configuration says; where it says nothing, names decide.

    Globs: `**` crosses folders.
    """

    paths: tuple[str, ...] = ()
    """Globs of the files that are shipped."""
    variants: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Variant → globs of the files that are for it alone; `any`: of those that are for all."""


BY_NAME = Scope()
"""Names alone decide."""

_DOCS = re.compile(
    r"^(readme|changelog|changes|news|history|licen[cs]e|copying|authors|contributing|security)\b", re.IGNORECASE
)
_DOC_SUFFIXES = {".md", ".rst", ".txt", ".adoc", ".ipynb", ".png", ".svg", ".jpg", ".jpeg", ".gif", ".pdf", ".css"}
_CODE_SUFFIXES = {
    ".c", ".cc", ".cpp", ".cu", ".cuh", ".cxx", ".go", ".h", ".hip", ".hpp", ".java", ".js", ".py", ".pyx", ".rb",
    ".rs", ".sh", ".ts",
}  # fmt: skip
"""`security.py` and `history.c` are no documents."""
_DOC_FOLDERS = {"doc", "docs", "documentation"}
_TOP_DOC_FOLDERS = {"website", "changes", "news", "changelog.d", "newsfragments", "man"}
_TEST_FOLDER = re.compile(
    r"(.*[_-])?tests?|testing|test_?data|test_?utils?|filetests|spec|e2e|fixtures?|fuzz|fuzzing|unittests?"
    r"|__(tests?|specs?|mocks|fixtures|snapshots)__"
)
_TEST_NAME = re.compile(r"^(test_.*|.*[_.-]tests?|.*[_.]spec|conftest|test)\.[a-z0-9]+$", re.IGNORECASE)
_TOP_TOOLING = {
    "ci", "scripts", "tools", "hack", "dev", "docker", "benchmark", "benchmarks", "bench", "examples", "example",
    "playground",
}  # fmt: skip
_TOOLING_NAMES = {
    "makefile", "justfile", "tox.ini", "noxfile.py", "codecov.yml", "renovate.json", "jenkinsfile", "manifest.in",
    "package-lock.json", "yarn.lock", "uv.lock", "poetry.lock", "cargo.lock", "owners", "codeowners", "mkdocs.yml",
}  # fmt: skip
_VENDOR_FOLDERS = {"vendor", "third_party", "3rdparty", "thirdparty", "node_modules", "extern", "external"}
_BUILD_NAMES = {
    "pyproject.toml", "setup.py", "setup.cfg", "cmakelists.txt", ".gitmodules", "meson.build", "configure.ac",
    "cargo.toml", "go.mod", "build.bazel", "module.bazel", "workspace", "package.json", "requirements.txt",
}  # fmt: skip

_VARIANT_WORDS = {
    "cuda": "cuda", "nvidia": "cuda", "cublas": "cuda", "cudnn": "cuda",
    "rocm": "rocm", "hip": "rocm", "amd": "rocm", "amdgpu": "rocm", "hipblas": "rocm",
    "xpu": "xpu", "sycl": "xpu", "npu": "npu", "ascend": "npu", "cann": "npu",
    "hpu": "hpu", "gaudi": "hpu", "tpu": "tpu",
}  # fmt: skip
_WORD = re.compile(r"[aA][mM][dD]64|[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
"""amd64 is every PC's processor, no GPU."""


def role(path: str) -> Role:
    """Return what a path is for, judged by its name alone."""
    *folders, name = path.lower().split("/")
    by_folder = _role_of_folders(folders)
    return by_folder or _role_of_name(name)


def _role_of_folders(folders: list[str]) -> Role | None:
    """Return what the folders say: a build file among tests or docs builds nothing that is shipped."""
    top, names = folders[:1], set(folders)
    if any(folder.startswith(".") for folder in folders):
        return Role.TOOLING
    if any(map(_TEST_FOLDER.fullmatch, folders)):
        return Role.TEST
    if names & _DOC_FOLDERS or _TOP_DOC_FOLDERS.intersection(top):
        return Role.DOCS
    if names & _VENDOR_FOLDERS:
        return Role.VENDORED
    return Role.TOOLING if _TOP_TOOLING.intersection(top) else None


def _role_of_name(name: str) -> Role:
    suffix = splitext(name)[1]
    if name in _BUILD_NAMES or suffix == ".cmake":
        return Role.BUILD
    if _TEST_NAME.match(name):
        return Role.TEST
    if suffix in _DOC_SUFFIXES or (_DOCS.match(name) and suffix not in _CODE_SUFFIXES):
        return Role.DOCS
    if name.startswith((".", "dockerfile")) or name in _TOOLING_NAMES:
        return Role.TOOLING
    return Role.SOURCE


def is_shipped(path: str, scope: Scope = BY_NAME) -> bool:
    """Answer whether a path is part of what users build or import."""
    if scope.paths:
        return any(is_match(glob, path) for glob in scope.paths)
    return role(path) in {Role.SOURCE, Role.BUILD}


def variant_of(path: str, scope: Scope = BY_NAME) -> str | None:
    """Return the variant that a path is for alone, or None for shared code."""
    for variant, globs in scope.variants.items():
        if any(is_match(glob, path) for glob in globs):
            return None if variant == "any" else variant
    words = [word.lower() for word in _WORD.findall(path.replace("ROCm", "Rocm"))]
    found = {_VARIANT_WORDS[word] for word in words if word in _VARIANT_WORDS}
    return found.pop() if len(found) == 1 else None


def concerns(path: str, variant: str, scope: Scope = BY_NAME) -> bool:
    """Answer whether a path can matter to a pin of a variant.

    ROCm builds translate CUDA sources (hipify), so a CUDA path does matter to a ROCm pin.
    """
    own = variant_of(path, scope)
    return own is None or variant in {"any", own} or (own == "cuda" and variant == "rocm")
