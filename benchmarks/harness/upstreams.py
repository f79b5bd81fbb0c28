"""Make upstreams that go on: from repositories that are given, or from histories drawn by script.

No source is ever written to: what is served borrows its objects. An upstream that will move begins some
steps before its tip, and each move gives its main branch the next steps of the real history.
"""

import os
import re
import subprocess
from collections import Counter
from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from harness.histories import draw

PINNED = (10, 50, 200)
"""How many steps of the main line before its tip the pins are."""
COMMITS = 4000
"""Of a repository that is drawn: 9 MB, as a small project."""
_DISTINCT = 10
"""So many are drawn; nobody who is measured sees that others are like them."""
_STEPS = 5
"""How many steps of the main line one move takes."""
_APART = 400
"""Steps of the main line between two upstreams that are one repository at different times."""
_GROUP = "group"


@dataclass(slots=True, kw_only=True)
class Upstream:
    """One repository that is served."""

    repository: Path
    branch: str
    """The full name of its main branch."""
    pins: tuple[str, ...]
    """Commits of the main line, the newest first."""
    coming: list[str] = field(default_factory=list)
    """The tips that the main branch will have, the next one first."""

    @property
    def name(self) -> str:
        """Return its path below the root."""
        return f"{_GROUP}/{self.repository.name}"

    def move(self) -> None:
        """Give the main branch its next tip."""
        git(self.repository, "update-ref", self.branch, self.coming.pop(0))


def drawn(folder: Path, count: int, *, commits: int = COMMITS) -> tuple[Path, ...]:
    """Return so many repositories drawn by script; a few are drawn, and named again and again."""
    made = tuple(folder / f"drawn-{number}.git" for number in range(min(count, _DISTINCT)))
    for number, repository in enumerate(made):
        draw(repository, commits=commits, seed=number)
    return tuple(made[number % len(made)] for number in range(count))


def given(folder: Path, count: int, *, again: bool = False) -> tuple[Path, ...]:
    """Return the smallest repositories below a folder whose main line is long enough to hold the pins.

    With `again`, where they are fewer than `count`, each is named as often as its line is long enough for another one.
    """
    found = sorted(repositories_below(folder), key=size_of)
    lengths = {it: int(git(it, "rev-list", "--first-parent", "--count", "HEAD")) for it in found}
    times = count if again else 1
    long_enough = (
        it
        for age in range(times)
        for it, steps in lengths.items()
        if steps > max(PINNED) + age * _APART + (age and _STEPS)
    )
    chosen = tuple(islice(long_enough, count))
    if not chosen:
        raise SystemExit(f"{folder} holds no bare repository with more than {max(PINNED)} commits on its main line")
    return chosen


def borrowed(
    sources: Iterable[Path], root: Path, *, moving: Container[int], moves: int, ages: bool = False
) -> tuple[Upstream, ...]:
    """Return upstreams that have their objects from others; those whose numbers are in `moving` can move so often.

    With `ages` a repository that is named again is served as it was earlier, without what came since.
    """
    upstreams, times = [], Counter[Path]()
    for number, source in enumerate(sources):
        named = source if source.suffix else source.parent
        slug = re.sub(r"[^a-z0-9]+", "-", named.stem.lower()).strip("-") or "repository"
        repository = root / _GROUP / f"{number:03}-{slug}"
        command = ["git", "-c", "safe.directory=*", "clone", "-q", "--mirror", "--shared", "--template="]
        subprocess.run([*command, str(source), str(repository)], check=True, env=_env())
        upstreams.append(_upstream(repository, moves if number in moving else 0, age=times[source] if ages else 0))
        times[source] += 1
    return tuple(upstreams)


def git(repository: Path, *args: str, text: str = "") -> str:
    """Run git in a repository, and return what it prints."""
    command = ["git", "-c", "safe.directory=*", f"--git-dir={repository}", *args]
    return subprocess.run(command, input=text, check=True, capture_output=True, text=True, env=_env()).stdout


def repositories_below(folder: Path) -> Iterator[Path]:
    """Yield the bare repositories below a folder, at any depth."""
    for name, folders, files in os.walk(folder):
        if "HEAD" in files and "objects" in folders:
            folders.clear()
            yield Path(name)
        else:
            folders.sort()


def size_of(folder: Path) -> int:
    """Return the bytes of all files below a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def _upstream(repository: Path, moves: int, *, age: int) -> Upstream:
    git(repository, "config", "uploadpack.allowFilter", "true")
    git(repository, "config", "uploadpack.allowAnySHA1InWant", "true")
    branch = git(repository, "symbolic-ref", "HEAD").strip()
    line = git(repository, "rev-list", "--first-parent", branch).split()
    moves = min(moves, (len(line) - max(PINNED) - 2) // _STEPS)
    now = moves * _STEPS + age * _APART
    if now:
        # Nothing else may know of what is still to come.
        ahead = git(repository, "for-each-ref", f"--contains={line[now - 1]}", "--format=delete %(refname)")
        git(repository, "update-ref", "--stdin", text=ahead.replace(f"delete {branch}\n", ""))
        git(repository, "update-ref", branch, line[now])
    pins = tuple(line[now + min(step, len(line) - now - 1)] for step in PINNED)
    return Upstream(
        repository=repository, branch=branch, pins=pins, coming=line[now - moves * _STEPS : now : _STEPS][::-1]
    )


def _env() -> dict[str, str]:
    """Return an environment in which git reads no person's configuration."""
    return {**os.environ, "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull}
