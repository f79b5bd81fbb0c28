"""Where does a browser show a repository's files, blame, commits and pull requests?

Where nobody can tell which software a host runs there is no link, rather than a wrong one.
Paths: https://docs.github.com/en/repositories/working-with-files/using-files/getting-permanent-links-to-files,
https://docs.gitlab.com/user/project/repository/files/, https://docs.gitea.com/usage/permalinks; the blame of Gitea and
Forgejo is a route in their routers/web/web.go.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple
from urllib.parse import quote

from watcher.model import Change, Oid


class _Paths(NamedTuple):
    """What stands between a repository's address and what is shown of it."""

    file: str
    blame: str
    commit: str
    compare: str
    pull: str


_PATHS = {
    "github": _Paths("blob", "blame", "commit", "compare", "pull"),
    "gitlab": _Paths("-/blob", "-/blame", "-/commit", "-/compare", "-/merge_requests"),
    "gitea": _Paths("src/commit", "blame/commit", "commit", "compare", "pulls"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Pages:
    """The pages of one repository; every one is None where they are not known."""

    repository: str | None
    """Its normalised address, which is where its pages are."""
    forge: str | None
    """Which software serves them: github, gitlab, gitea (Forgejo too)."""

    def file(self, commit: Oid, path: str, line: int | None = None) -> str | None:
        """Return where a line of a file at a commit is shown."""
        paths = self._paths()
        return _line(f"{self.repository}/{paths.file}/{commit}", path, line) if paths else None

    def blame(self, commit: Oid, place: str) -> str | None:
        """Return where the blame of a line at a commit is shown; `place` is `path:line`, as verdicts have it."""
        paths = self._paths()
        path, _, number = place.rpartition(":")
        path, line = (path, int(number)) if path and number.isdecimal() else (place, None)
        return _line(f"{self.repository}/{paths.blame}/{commit}", path, line) if paths else None

    def commit(self, commit: Oid) -> str | None:
        """Return where a commit is shown."""
        paths = self._paths()
        return f"{self.repository}/{paths.commit}/{commit}" if paths else None

    def compare(self, older: Oid, newer: Oid) -> str | None:
        """Return where the commits between two are shown."""
        paths = self._paths()
        return f"{self.repository}/{paths.compare}/{older}...{newer}" if paths else None

    def change(self, change: Change) -> str | None:
        """Return where a change was discussed as a pull or merge request, else its landing."""
        paths = self._paths()
        if paths is None or change.pull_request is None:
            return self.commit(change.landing)
        return f"{self.repository}/{paths.pull}/{change.pull_request}"

    def _paths(self) -> _Paths | None:
        is_shown = self.repository is not None and self.repository.startswith("https://")
        return _PATHS.get(self.forge or "") if is_shown else None


PagesOf = Callable[[str | None], Pages]
"""Returns the pages of a repository by its address."""


def pages(repository: str | None, forge: str | None = None) -> Pages:
    """Return the pages of a repository, which `forge` serves; without that word the host's name must tell."""
    return Pages(repository=repository, forge=forge or forge_of(repository))


def forge_of(repository: str | None) -> str | None:
    """Return which software serves a repository, as far as the host's name tells: github, gitlab, gitea."""
    if repository is None or not repository.startswith("https://"):
        return None
    host = repository.split("/")[2]
    labels = set(host.partition(":")[0].split("."))
    if "github" in labels:
        return "github"
    if "gitlab" in labels or host in {"salsa.debian.org", "invent.kde.org"}:
        return "gitlab"
    if labels & {"codeberg", "gitea", "forgejo"}:
        return "gitea"
    return None


def _line(at: str, path: str, line: int | None) -> str:
    """Return the page of a line; a path that is no UTF-8 is quoted byte by byte, as git has it."""
    return f"{at}/{quote(path, errors='surrogateescape')}" + (f"#L{line}" if line else "")
