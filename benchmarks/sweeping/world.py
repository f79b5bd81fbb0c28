"""Make upstreams that can be moved, a downstream that pins them, and the configuration that watches it."""

import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

_UPSTREAMS = "https://upstream.example/"
_LINES = 100
"""Pins in one manifest."""
_FILES = 50
_NEWS = 3
"""Commits by which an upstream moves: one of them is a fix."""
_PAGE = 30
"""Lines of a file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """A folder with everything that one measurement needs."""

    folder: Path

    @property
    def root(self) -> Path:
        """Return where the names of the upstreams are."""
        return self.folder / "upstreams"

    @property
    def config(self) -> Path:
        """Return the configuration."""
        return self.folder / "config.yaml"

    def point(self, names: Iterable[str], repository: Path) -> None:
        """Let upstreams be what a repository holds."""
        for name in names:
            link = self.root / name
            link.parent.mkdir(parents=True, exist_ok=True)
            link.unlink(missing_ok=True)
            link.symlink_to(repository.resolve())

    def watch(self, base: str, pins: Sequence[tuple[str, str]]) -> None:
        """Write the manifests of a downstream with pins, (upstream's name, commit), and the configuration."""
        lines = [f"p{at:05} @ git+{_UPSTREAMS}{name}@{commit}\n" for at, (name, commit) in enumerate(pins)]
        for start in range(0, len(lines), _LINES):
            manifest = self.folder / f"downstream/{start // _LINES:03}/requirements.txt"
            manifest.parent.mkdir(parents=True, exist_ok=True)
            manifest.write_text("".join(lines[start : start + _LINES]))
        self.config.write_text(
            f"downstreams: [{{path: downstream}}]\nstate: state\nrewrites: {{'{_UPSTREAMS}': '{base}/'}}\n"
        )


def names(count: int) -> tuple[str, ...]:
    """Return the names of so many upstreams, `group/number`."""
    return tuple(f"{number // 1000:03}/{number:05}" for number in range(count))


def draw(repository: Path, commits: int, *, fixes: int = 0) -> tuple[str, ...]:
    """Write a history of small files on one branch, with so many fixes in it; return its commits, oldest first."""
    subprocess.run(["git", "init", "-q", "--bare", "-b", "main", str(repository)], check=True)
    every = commits // fixes if fixes else commits + 1
    texts = (_commit(number, is_fix=(number + 1) % every == 0) for number in range(commits))
    _git(repository, "fast-import", "--quiet", text="".join(texts))
    _settle(repository)
    return tuple(_git(repository, "rev-list", "--reverse", "main").split())


def successor(repository: Path, there: Path, number: int) -> Path:
    """Return a repository that has three commits more than another one, whose objects it borrows."""
    subprocess.run(["git", "init", "-q", "--bare", "-b", "main", str(there)], check=True)
    (there / "objects/info/alternates").write_text(f"{(repository / 'objects').resolve()}\n")
    refs = _git(repository, "for-each-ref", "--format=create %(refname) %(objectname)")
    _git(there, "update-ref", "--stdin", text=refs)
    begin = 2_000_000 + number * _NEWS
    texts = [_commit(begin + at, is_fix=at == 1, onto="refs/heads/main^0" if not at else "") for at in range(_NEWS)]
    _git(there, "fast-import", "--quiet", text="".join(texts))
    _settle(there)
    return there


def _settle(repository: Path) -> None:
    """Let the server hand out parts, as forges do."""
    _git(repository, "pack-refs", "--all")
    _git(repository, "config", "uploadpack.allowFilter", "true")
    _git(repository, "config", "uploadpack.allowAnySHA1InWant", "true")


def _commit(number: int, *, is_fix: bool, onto: str = "") -> str:
    """Return one commit of the stream: another line of one file."""
    title = f"Fix crash when part {number} is empty" if is_fix else f"Rename a variable of part {number}"
    message = f"{title}\n\nFixes: #{number}" if is_fix else title
    lines = "".join(f"x{at} = {number if at == number % _PAGE else at}\n" for at in range(_PAGE))
    begin = f"from {onto}\n" if onto else ""
    return (
        f"commit refs/heads/main\ncommitter A <a@example.org> {1_500_000_000 + 60 * number} +0000\n"
        f"data {len(message)}\n{message}\n{begin}"
        f"M 100644 inline src/part{number % _FILES}.py\ndata {len(lines)}\n{lines}\n\n"
    )


def _git(repository: Path, *args: str, text: str = "") -> str:
    """Run git in a repository."""
    command = ["git", f"--git-dir={repository}", *args]
    return subprocess.run(command, input=text, check=True, capture_output=True, text=True).stdout
