"""Draw small histories as projects have them: features, fixes that alter earlier lines, merged branches, releases."""

import random
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

_FILES = tuple(
    f"{folder}/{name}"
    for folder, names in {
        "src": ("parser.py", "cache.py", "client.py", "server.py", "index.py", "config.py"),
        "src/gpu": ("kernel_cuda.cu", "kernel_rocm.hip", "memory.cpp", "stream.cpp"),
        "tests": ("test_parser.py", "test_cache.py", "test_client.py"),
        "docs": ("usage.md", "install.md"),
    }.items()
    for name in names
)
_FOLDERS, _EACH = 12, 10
"""Beside the files above, so many folders with so many files, which change less often."""
_LINES = 120
_PARTS = ("parser", "cache", "client", "server", "index", "allocator", "stream", "config", "scheduler", "kernel")
_FIXES = (
    "Fix crash when {} is empty",
    "fix: {} leaks memory after a timeout",
    "Fix race in {} at shutdown",
    "fix({}): off by one at the last block",
    "{}: avoid a null dereference",
    "Correct {} on 32-bit",
)
_OTHERS = (
    "Add {} statistics",
    "feat: faster {}",
    "Refactor {}",
    "docs: describe {}",
    "Clean up {} tests",
    "{}: rename internals",
)
_MERGES = 0.35
"""Share of the main line's steps that merge a branch."""
_SIDE = 3
"""The most commits of a branch."""
_FIXING = 0.15
"""Share of commits that are fixes: pins then have as many findings as in histories of real projects."""
_BUSY = 0.6
"""Share of changes to the files above."""
_WORDS = (*_PARTS, "return", "for", "each", "value", "buffer", "with", "size", "assert", "next", "pending", "error")


def draw(repository: Path, *, commits: int, seed: int, tag_every: int = 50, branches: int = 5) -> None:
    """Write a bare repository of its own history; the same seed draws the same one."""
    subprocess.run(["git", "init", "-q", "--bare", "--template=", "-b", "main", str(repository)], check=True)
    drawing = _Drawing(dice=random.Random(seed))  # noqa: S311 - no secret
    stream = "".join(drawing.stream(commits, tag_every, branches))
    command = ["git", f"--git-dir={repository}", "fast-import", "--quiet"]
    subprocess.run(command, input=stream.encode(), check=True)
    subprocess.run(["git", f"--git-dir={repository}", "repack", "-adqb"], check=True)
    subprocess.run(["git", f"--git-dir={repository}", "pack-refs", "--all"], check=True)


@dataclass(slots=True, kw_only=True)
class _Drawing:
    """What the next commit stands on."""

    dice: random.Random
    number: int = 0
    files: dict[str, list[str]] = field(default_factory=dict)
    quiet: tuple[str, ...] = tuple(
        f"src/part{folder}/file{each}.py" for folder in range(_FOLDERS) for each in range(_EACH)
    )

    def stream(self, commits: int, tag_every: int, branches: int) -> Iterator[str]:
        """Yield fast-import's commands."""
        yield from self._begin()
        tagged = 0
        while self.number < commits:
            if self.dice.random() < _MERGES:
                yield from self._merge()
            else:
                yield self._change("main", self._subject())
            if self.number >= (tagged + 1) * tag_every:
                tagged += 1
                who = f"tagger A <a@example.org> {self._now()} +0000"
                yield f"tag v1.{tagged}.0\nfrom :{self.number}\n{who}\ndata 7\nrelease\n"
        for number in range(branches):
            yield f"reset refs/heads/topic/{number}\nfrom :{self.number - number}\n\n"
            yield self._change(f"topic/{number}", self._subject(), keep=False)

    def _begin(self) -> Iterator[str]:
        self.files = {path: [self._line() for _ in range(_LINES)] for path in (*_FILES, *self.quiet)}
        edits = "".join(map(self._file, self.files))
        yield f"{self._head('main', 'Begin')}{edits}\n"

    def _merge(self) -> Iterator[str]:
        """Yield a branch of a few commits, and what merges it."""
        main = self.number
        before = dict(self.files)
        subject = self._subject()
        for at in range(self.dice.randint(1, _SIDE)):
            yield self._change(
                "side", subject if at == 0 else f"Address review of {subject}", source=self.number if at else main
            )
        side = self.number
        words = "-".join(subject.lower().replace(":", "").split()[:4])
        title = f"Merge pull request #{side} from someone/{words}\n\n{subject}"
        # The merge's tree is the branch's: nothing else landed on the main line since.
        edits = "".join(self._file(path) for path, lines in self.files.items() if lines is not before[path])
        yield f"{self._head('main', title)}from :{main}\nmerge :{side}\n{edits}\n"

    def _change(self, branch: str, subject: str, *, source: int | None = None, keep: bool = True) -> str:
        """Return a commit that alters some lines of one file."""
        path = self.dice.choice(_FILES if self.dice.random() < _BUSY else self.quiet)
        before = self.files[path]
        self.files[path] = list(before)
        for _ in range(self.dice.randint(1, 4)):
            self.files[path][self.dice.randrange(_LINES)] = self._line()
        link = f"from :{source}\n" if source else ""
        text = f"{self._head(branch, subject)}{link}{self._file(path)}\n"
        if not keep:
            self.files[path] = before
        return text

    def _head(self, branch: str, message: str) -> str:
        self.number += 1
        who = f"committer A <a@example.org> {self._now()} +0000"
        size = len(message.encode())
        return f"commit refs/heads/{branch}\nmark :{self.number}\n{who}\ndata {size}\n{message}\n"

    def _file(self, path: str) -> str:
        text = "\n".join(self.files[path]) + "\n"
        return f"M 100644 inline {path}\ndata {len(text.encode())}\n{text}\n"

    def _line(self) -> str:
        words = " ".join(self.dice.choices(_WORDS, k=6))
        return f"    {words} {self.dice.getrandbits(48):012x}"

    def _subject(self) -> str:
        pattern = self.dice.choice(_FIXES if self.dice.random() < _FIXING else _OTHERS)
        return pattern.format(self.dice.choice(_PARTS))

    def _now(self) -> int:
        return 1_700_000_000 + 3600 * self.number
