"""Say how a build goes on with a commit that was rescued."""

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field

from watcher.model import Oid
from watcher.plural import counted
from watcher.report.text import safe

PLACE = "/opt/rescued"
"""Where the commands suppose that an archive was unpacked."""

_PAST = {
    "whole": ("It has the whole history up to this commit, with the tags on it, and nothing after it.",),
    "trees": (
        "It has the contents of this commit, and of older ones only the names: upstream does not hand out the rest.",
        "pip needs no more. A clone must ask for no more: git clone --filter=blob:none, or --depth=1.",
    ),
    "names": (
        "It has the contents of this commit, and of older ones the messages: upstream does not hand out the rest.",
        "Clone it by git clone --depth=1, and let pip install from that folder: pip's own clone asks for more.",
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Rescued:
    """One commit, whole, in an archive that holds a bare repository."""

    name: str
    """What people call the dependency."""
    upstream: str
    commit: Oid
    tree: Oid
    archive: str
    """Path of the archive."""
    folder: str
    """Name of the bare repository in it."""
    size: int
    """Bytes of the archive."""
    past: str
    """What is in it of older commits: `whole`, `trees` or `names`."""
    refs: tuple[str, ...] = ()
    """The tags and branches that it has, in short, beside the commit's id."""
    submodules: Mapping[str, Oid] = field(default_factory=dict)
    """Path → commit: they are other repositories, and not in it."""
    has_large_files: bool = False
    """It uses Git LFS, whose files are not in it."""


def render(made: Rescued) -> str:
    """Return what was written, and the commands that use it."""
    repository = f"{PLACE}/{made.folder}"
    url = f"file://{repository}"
    archive = made.archive.rsplit("/", 1)[-1]
    return "\n".join(
        [
            f"{safe(made.archive)}: {safe(made.name)} at {made.commit}, {_size(made.size)}, every object checked",
            "",
            "In a Dockerfile, or in a shell with `tar -xf` in place of ADD:",
            "",
            f"  ADD {shlex.quote(archive)} {PLACE}/",
            *(f"  RUN {line}" for line in _git_lines(made, url, repository)),
            "",
            "git and pip then take it from there, by the address and the commit of before. By its own address:",
            "",
            f"  pip install {shlex.quote(f'git+{url}@{made.commit}')}",
            "",
            f"Is it the same? This prints {made.tree}:",
            "",
            f"  git -C {shlex.quote(repository)} rev-parse {shlex.quote(f'{made.commit}^{{tree}}')}",
            "",
            *_notes(made),
            "",
        ]
    )


def _git_lines(made: Rescued, url: str, repository: str) -> list[str]:
    """Return git's settings: both spellings of the address, since git replaces a beginning and keeps the rest."""
    spellings = (made.upstream, f"{made.upstream}.git")
    key = shlex.quote(f"url.{url}.insteadOf")
    return [
        *(f"git config --global --add {key} {shlex.quote(safe(spelling))}" for spelling in spellings),
        # The archive's files are root's; git reads nobody else's repository without being told so.
        f"git config --global --add safe.directory {shlex.quote(repository)}",
    ]


def _notes(made: Rescued) -> list[str]:
    """Return what a build may miss."""
    notes = list(_PAST[made.past])
    if made.refs:
        notes.append(f"It is there under its id and as {', '.join(map(safe, made.refs))}.")
    if made.submodules:
        notes.append(f"Not in it, {counted(len(made.submodules), 'submodule')}, rescue them by themselves:")
        notes += [f"  {safe(path)} at {commit}" for path, commit in sorted(made.submodules.items())]
    if made.has_large_files:
        notes.append("Not in it: the files that it keeps with Git LFS.")
    return notes


def _size(count: int) -> str:
    """Return bytes in a unit that people read."""
    return f"{count / 2**20:.1f} MiB" if count >= 2**20 else f"{count / 2**10:.0f} KiB"
