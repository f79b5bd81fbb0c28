"""Where does a browser show a file, a commit, or what lies between two commits?

Forges are told apart by their host's name. Where the name says nothing there is no link, rather than a wrong one.
Paths: https://docs.github.com/en/repositories/working-with-files/using-files/getting-permanent-links-to-files,
https://docs.gitlab.com/user/project/repository/files/, https://docs.gitea.com/usage/permalinks.
"""

from urllib.parse import quote

from watcher.model import Oid


def file_url(repository: str | None, commit: Oid, path: str, line: int | None = None) -> str | None:
    """Return where a line of a file at a commit is shown; `repository` is a normalised address."""
    match forge_of(repository):
        case "github":
            middle = f"blob/{commit}"
        case "gitlab":
            middle = f"-/blob/{commit}"
        case "gitea":
            middle = f"src/commit/{commit}"
        case _:
            return None
    return f"{repository}/{middle}/{quote(path)}" + (f"#L{line}" if line else "")


def commit_url(repository: str | None, commit: Oid) -> str | None:
    """Return where a commit is shown."""
    forge = forge_of(repository)
    return f"{repository}/{'-/' if forge == 'gitlab' else ''}commit/{commit}" if forge else None


def compare_url(repository: str | None, older: Oid, newer: Oid) -> str | None:
    """Return where the commits between two are shown."""
    forge = forge_of(repository)
    return f"{repository}/{'-/' if forge == 'gitlab' else ''}compare/{older}...{newer}" if forge else None


def pull_url(repository: str | None, number: int) -> str | None:
    """Return where a pull or merge request is shown."""
    part = {"github": "pull", "gitlab": "-/merge_requests", "gitea": "pulls"}.get(forge_of(repository) or "")
    return f"{repository}/{part}/{number}" if part else None


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
