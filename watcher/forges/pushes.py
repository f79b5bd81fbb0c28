"""Say why a forge did not take a push: git only hands on what it says, and each forge has its own words."""

import re

from watcher.errors import ForgeError
from watcher.report.text import safe

_ARCHIVED = re.compile(r"(?:is|was) archived", re.IGNORECASE)
_PROTECTED = re.compile(r"GH006|GH013|rule violations|protected branch", re.IGNORECASE)
_FORBIDDEN = re.compile(
    r"permission to \S+ denied|write access to repository not granted|not allowed to push|permission denied for writing"
    r"|returned error: 403",
    re.IGNORECASE,
)
_THERE = re.compile(r"non-fast-forward|fetch first|stale info|reference already exists", re.IGNORECASE)


def refusal_of(words: str, branch: str, repository: str) -> ForgeError | None:
    """Return the error for what git printed when a push failed; None where it is none of the forge's refusals."""
    aim = f"push {safe(branch)} to {safe(repository)}"
    if _ARCHIVED.search(words):
        return ForgeError(f"cannot {aim}: the repository is archived, and so only read", kind="archived")
    if _PROTECTED.search(words):
        return ForgeError(
            f"cannot {aim}: the branch is protected; let the account that pushes create it, or exempt its name",
            kind="protected",
        )
    if _FORBIDDEN.search(words):
        return ForgeError(
            f"cannot {aim}: whoever pushes may not; give the account the right to write", kind="forbidden"
        )
    if _THERE.search(words):
        return ForgeError(f"cannot {aim}: a branch of that name is there, with other commits", kind="duplicate")
    return None
