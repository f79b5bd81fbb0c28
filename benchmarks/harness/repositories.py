"""Make many small bare repositories, as upstreams are: a few branches, releases, a little history."""

import shutil
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

_COMMITS = 20
_BRANCHES = 4
_TAGS = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """How large one repository is."""

    commits: int = _COMMITS
    branches: int = _BRANCHES
    """Beside `main`, each one commit ahead of it."""
    tags: int = _TAGS
    """Annotated, on the latest commits of `main`."""


def make(folder: Path, count: int, shape: Shape = Shape()) -> tuple[str, ...]:
    """Return the names of `count` bare repositories below a folder, `group/number.git`; those there are kept.

    They share the first one's objects by hard links, and differ in one ref each.
    """
    first = folder / "first.git"
    if not first.exists():
        _draw(first, shape)
    tip = (first / "refs/heads/main").read_text()
    names = tuple(f"{number // 1000:03}/{number:05}.git" for number in range(count))
    for name in names:
        _copy(first, folder / name, tip)
    return names


def refs_of(repository: Path) -> dict[str, str]:
    """Return full ref name → oid, as git tells it."""
    printed = _git(repository, "for-each-ref", "--format=%(refname) %(objectname)")
    return dict(line.split(" ") for line in printed.splitlines())


def move(repository: Path, number: int) -> None:
    """Give a branch another tip, as an upstream does that goes on: `main` gets one commit more."""
    message = f"commit refs/heads/main\ncommitter A <a@example.org> {1_800_000_000 + number} +0000\ndata 4\nmore\n"
    _git(repository, "fast-import", "--quiet", text=f"{message}from refs/heads/main^0\n\n")


def _copy(first: Path, there: Path, tip: str) -> None:
    """Make one repository out of the first."""
    if there.exists():
        return
    shutil.copytree(first, there, copy_function=lambda source, to: Path(to).hardlink_to(source))
    own = there / "refs/heads/own" / there.stem
    own.parent.mkdir(parents=True)
    own.write_text(tip)


def _draw(repository: Path, shape: Shape) -> None:
    """Write the first repository by one fast-import."""
    subprocess.run(["git", "init", "-q", "--bare", "-b", "main", str(repository)], check=True)
    _git(repository, "fast-import", "--quiet", text="".join(_stream(shape)))
    _git(repository, "config", "uploadpack.allowFilter", "true")
    _git(repository, "config", "uploadpack.allowAnySHA1InWant", "true")
    for sample in (repository / "hooks").glob("*.sample"):
        sample.unlink()


def _stream(shape: Shape) -> Iterable[str]:
    """Yield fast-import's commands."""
    for number in range(shape.commits):
        yield _commit("main", number, f"M 100644 inline src/{number % 7}.py\ndata 9\nx = {number:04}\n\n")
    for number in range(shape.branches):
        yield _commit(
            f"topic/{number}", shape.commits + number, f"from refs/heads/main\nM 100644 inline t{number}\ndata 2\ny\n\n"
        )
    for number in range(shape.tags):
        who = f"tagger A <a@example.org> {1_700_000_000 + number} +0000"
        yield f"tag v1.{number}\nfrom :{shape.commits - number}\n{who}\ndata 7\nrelease\n"


def _commit(branch: str, number: int, rest: str) -> str:
    """Return one commit of the stream."""
    who = f"committer A <a@example.org> {1_600_000_000 + number} +0000"
    subject = f"Change {number}"
    return f"commit refs/heads/{branch}\nmark :{number + 1}\n{who}\ndata {len(subject)}\n{subject}\n{rest}"


def _git(repository: Path, *args: str, text: str = "") -> str:
    """Run git in a repository."""
    command = ["git", f"--git-dir={repository}", *args]
    return subprocess.run(command, input=text, check=True, capture_output=True, text=True).stdout
