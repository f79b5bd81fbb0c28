"""What a pin moves to, and what its ref reads afterwards; or why no edit of the file can move it."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from watcher.errors import EditError
from watcher.model import Oid, Pin, RefKind
from watcher.pins.lockfiles import command_for
from watcher.pins.spots import Lines
from watcher.pins.unpinned import form_for

Unambiguous = Callable[[Pin, str], bool]
"""Answer whether the first digits of a commit's id name it alone in the pin's upstream."""
_PLAIN = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._+/-]{0,199}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """What a pin moves to."""

    commit: Oid
    tag: str | None = None
    """A tag that names the commit: what a pin of a tag becomes, and what a comment says."""
    branch: str | None = None
    """The branch that holds it: what a comment says where there is no tag."""

    @property
    def safe_tag(self) -> str | None:
        """Return the tag if a manifest can hold it."""
        return _safe(self.tag)

    @property
    def safe_name(self) -> str | None:
        """Return the tag, or without one the branch, if a manifest can hold it."""
        return self.safe_tag or _safe(self.branch)


def _safe(name: str | None) -> str | None:
    """Return a name unless it has characters that a shell may run or that end a word in some format.

    Whoever may push to the upstream chooses the names, and `v1;curl${IFS}x|sh` is a tag that git allows.
    """
    return name if name and _PLAIN.fullmatch(name) else None


def never(_: Pin, __: str) -> bool:
    """Answer that no short id is known to be unambiguous."""
    return False


def require_editable(pin: Pin, target: Target, lines: Lines) -> None:
    """Raise EditError for what no edit of this file can move."""
    if (command := command_for(pin, target.commit)) is not None:
        raise EditError(f"{pin.place}: a tool writes this file; move {pin.name} with `{command}`")
    if pin.ref_kind is RefKind.UNRESOLVED:
        raise EditError(f"{pin.place}: the ref of {pin.name} is not in the files, so there is nothing to edit")
    if pin.ref is None:
        raise EditError(
            f"{pin.place}: {pin.name} follows the default branch and names no ref that could be edited; "
            f"write {form_for(pin.file, lines.line(pin.line), target.commit)}"
        )


def new_ref(pin: Pin, target: Target, is_unambiguous: Unambiguous) -> str:
    """Return what stands in the place of the ref afterwards: a tag for a tag where there is one, else the commit."""
    old = pin.ref or ""
    if pin.ref_kind is RefKind.SHA:
        return target.commit
    if pin.ref_kind is RefKind.SHORT_SHA:
        lengths = range(len(old), len(target.commit))
        return next((target.commit[:n] for n in lengths if is_unambiguous(pin, target.commit[:n])), target.commit)
    whole = target.safe_tag if pin.ref_kind is RefKind.TAG else None
    if pin.resolved_ref is None:
        return whole or target.commit
    before, _, after = pin.resolved_ref.partition(old)
    if whole and old in pin.resolved_ref and whole.startswith(before) and whole.endswith(after):
        return whole[len(before) : len(whole) - len(after)]
    raise EditError(
        f"{pin.place}: {pin.name} is taken at {pin.resolved_ref!r}, of which only {old!r} stands here: "
        f"{'the tag ' + repr(whole) if whole else 'a commit'} cannot be put there; change the line that uses it"
    )
