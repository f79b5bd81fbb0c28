"""Which accelerator a place is for, as its names tell: path, stage, condition, variable."""

import re
from collections.abc import Iterable
from pathlib import PurePosixPath

ANY = "any"
_WORDS = {
    "cuda": re.compile(r"cuda\d*|cu\d{2,3}|cublas\d*|nvidia"),
    "rocm": re.compile(r"rocm\d*|hip|hipblas\d*|gfx[0-9a-f]{2,}|amd|amdgpu"),
    "xpu": re.compile(r"xpu"),
    "npu": re.compile(r"npu|ascend[0-9a-z]*"),
    "hpu": re.compile(r"hpu|gaudi\d?"),
    "tpu": re.compile(r"tpu"),
    "cpu": re.compile(r"cpu"),
}
_SPLIT = re.compile(r"[^a-z0-9]+")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z][a-z])")


def variant_in(name: str) -> str:
    """Return the one accelerator that a name mentions as a word of its own, else `any`."""
    words = _SPLIT.split(_CAMEL.sub("-", name).lower())
    found = {variant for variant, pattern in _WORDS.items() for word in words if pattern.fullmatch(word)}
    return found.pop() if len(found) == 1 else ANY


def variant_of(hints: Iterable[str], file: str) -> str:
    """Return the accelerator that the nearest telling name mentions: the hints in order, the file, its folders."""
    path = PurePosixPath(file)
    folders = (part for part in reversed(path.parent.parts))
    for name in (*hints, path.name, *folders):
        variant = variant_in(name)
        if variant != ANY:
            return variant
    return ANY
