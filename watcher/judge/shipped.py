"""What is a path for: shipped code, or tests, docs, CI and tooling? And for which variant?"""

import re
from enum import StrEnum
from pathlib import PurePosixPath


class Role(StrEnum):
    """What a path is for."""

    SOURCE = "source"
    BUILD = "build"
    TEST = "test"
    DOCS = "docs"
    TOOLING = "tooling"
    VENDORED = "vendored"


_DOCS = re.compile(
    r"^(readme|changelog|changes|news|history|licen[cs]e|copying|authors|contributing|security)\b", re.IGNORECASE
)
_DOC_SUFFIXES = {".md", ".rst", ".txt", ".adoc", ".ipynb", ".png", ".svg", ".jpg", ".jpeg", ".gif", ".pdf", ".css"}
_DOC_FOLDERS = {"doc", "docs", "documentation", "website", "changes", "news", "changelog.d", "newsfragments", "man"}
_TEST_FOLDERS = {
    "test",
    "tests",
    "testing",
    "testdata",
    "test_data",
    "__tests__",
    "spec",
    "fuzz",
    "fuzzing",
    "unittest",
}
_TEST_NAME = re.compile(r"^(test_.*|.*[_.-]tests?|.*_spec|conftest|test)\.[a-z0-9]+$", re.IGNORECASE)
_TOP_TOOLING = {"ci", "scripts", "tools", "hack", "dev", "benchmark", "benchmarks", "bench", "examples", "example"}
_TOOLING_NAMES = {
    "makefile", "justfile", "tox.ini", "noxfile.py", "codecov.yml", "renovate.json", "jenkinsfile", "manifest.in",
    "package-lock.json", "yarn.lock", "uv.lock", "poetry.lock", "cargo.lock", "owners", "codeowners", "dockerfile",
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
_WORD = re.compile(r"[a-z]+")


def role(path: str) -> Role:
    """Return what a path is for, judged by its name alone."""
    parts = [part.lower() for part in PurePosixPath(path).parts]
    folders, name = parts[:-1], parts[-1]
    if any(folder.startswith(".") for folder in folders):
        return Role.TOOLING
    if name in _BUILD_NAMES or name.endswith(".cmake"):
        return Role.BUILD
    if _TEST_FOLDERS & set(folders) or _TEST_NAME.match(name):
        return Role.TEST
    if _DOC_FOLDERS & set(folders) or _DOCS.match(name) or PurePosixPath(name).suffix in _DOC_SUFFIXES:
        return Role.DOCS
    if _VENDOR_FOLDERS & set(folders):
        return Role.VENDORED
    if name.startswith(".") or name in _TOOLING_NAMES or (folders and folders[0] in _TOP_TOOLING):
        return Role.TOOLING
    return Role.SOURCE


def is_shipped(path: str, wanted: tuple[str, ...] = ()) -> bool:
    """Answer whether a path is part of what users build or import.

    `wanted` are the globs of the configuration (`**` crosses folders); where given, they alone decide.
    """
    if wanted:
        return any(matches(path, glob) for glob in wanted)
    return role(path) in {Role.SOURCE, Role.BUILD}


def matches(path: str, glob: str) -> bool:
    """Answer whether a path matches a glob in which `*` stays in a folder and `**` crosses folders."""
    pattern = re.escape(glob).replace(r"\*\*/", "(?:.*/)?").replace(r"\*\*", ".*").replace(r"\*", "[^/]*")
    return re.fullmatch(pattern.replace(r"\?", "[^/]"), path) is not None


def variant_of(path: str) -> str | None:
    """Return the variant that a path is for alone, or None for shared code."""
    words = _WORD.findall(path.lower())
    found = {_VARIANT_WORDS[word] for word in words if word in _VARIANT_WORDS}
    return found.pop() if len(found) == 1 else None


def concerns(path: str, variant: str) -> bool:
    """Answer whether a path can matter to a pin of a variant.

    ROCm builds translate CUDA sources (hipify), so a CUDA path does matter to a ROCm pin.
    """
    own = variant_of(path)
    return own is None or variant in {"any", own} or (own == "cuda" and variant == "rocm")
