"""What kind of ref a text is, as far as the text and its key can tell."""

import re

from watcher.model import RefKind

_FULL = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?", re.IGNORECASE)
_SHORT = re.compile(r"(?=[0-9a-f]*[0-9])(?=[0-9a-f]*[a-f])[0-9a-f]{7,39}", re.IGNORECASE)
_VERSION = re.compile(r"(?:[A-Za-z][A-Za-z0-9.]*[-_])*(?:v?\d+(?:\.\d+)+|v\d+)(?![\d.]*\d)", re.IGNORECASE)
_SUFFIX = re.compile(r"[-._+]|[A-Za-z]+|\d+")
_ALONE = frozenset(["rc", "alpha", "beta", "pre", "preview", "post", "dev", "final", "ga", "stable", "release", "lts"])
_NUMBERED = frozenset(["patch", "rev", "hotfix", "cu", "cuda", "rocm", "git", "nv", "sp", "fb"])
_LONGEST = 120
_PREFIXES = {
    "refs/tags/": RefKind.TAG,
    "tags/": RefKind.TAG,
    "refs/heads/": RefKind.BRANCH,
    "heads/": RefKind.BRANCH,
    "refs/remotes/origin/": RefKind.BRANCH,
    "remotes/origin/": RefKind.BRANCH,
    "origin/": RefKind.BRANCH,
}


def ref_kind(ref: str, hint: RefKind | None = None) -> RefKind:
    """Return the kind of a ref; a hint (a key called `tag`) decides for all that is no commit id."""
    bare = bare_ref(ref)
    if _FULL.fullmatch(bare):
        return RefKind.SHA
    if _SHORT.fullmatch(bare):
        return RefKind.SHORT_SHA
    if bare != ref:
        return next(kind for prefix, kind in _PREFIXES.items() if ref.startswith(prefix))
    if hint is not None:
        return hint
    return RefKind.TAG if is_version_like(bare) else RefKind.BRANCH


def is_version_like(name: str) -> bool:
    """Answer whether a name looks like a version: `v1.2.3`, `core_v0.14.0`, `v4`; not `v1.19.x`, not `release/2.1`."""
    if len(name) > _LONGEST or "/" in name or "x" in re.split(r"[-._]", name.lower()):
        return False
    head = _VERSION.match(name)
    return head is not None and _is_suffix(name[head.end() :].lower())


def _is_suffix(rest: str) -> bool:
    """Answer whether what follows the numbers is `rc1`, `.post2`, `-1` …, but not `_rocm`, `-fixes`."""
    parts = _SUFFIX.findall(rest)
    after = ("".join(parts[at + 1 :]) for at in range(len(parts)))
    return "".join(parts) == rest and all(
        len(part) == 1
        or part.isdigit()
        or part in _ALONE
        or (part in _NUMBERED and following.strip("-._")[:1].isdigit())
        for part, following in zip(parts, after, strict=False)
    )


def bare_ref(ref: str) -> str:
    """Return the ref without the prefix that only says where it lives: `refs/tags/v1` → `v1`."""
    prefix = next((prefix for prefix in _PREFIXES if ref.startswith(prefix)), "")
    return ref[len(prefix) :]


def is_commit(ref: str) -> bool:
    """Answer whether a text can only be a commit id, full or short."""
    return ref_kind(ref) in {RefKind.SHA, RefKind.SHORT_SHA}
