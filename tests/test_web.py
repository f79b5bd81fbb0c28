"""Where a browser shows things, on each sort of forge; no link where nobody can tell which it is."""

import pytest

from watcher.config import Settings
from watcher.model import Change
from watcher.web import Pages, pages

ONE, TWO = "1" * 40, "2" * 40
GITHUB, GITLAB, GITEA = "https://github.com/o/n", "https://gitlab.example.org/g/s/n", "https://codeberg.org/o/n"
UNKNOWN = "https://git.example.org/o/n"


def everything(shown: Pages) -> list[str | None]:
    """Return every page."""
    return [
        shown.file(ONE, "a", 7),
        shown.blame(ONE, "a:7"),
        shown.commit(ONE),
        shown.compare(ONE, TWO),
        shown.change(change(95)),
    ]


def change(pull_request: int | None) -> Change:
    """Return a change that landed."""
    return Change(landing=ONE, before=None, commits=(ONE,), title="Repair it", pull_request=pull_request)


@pytest.mark.parametrize(
    ("repository", "expected"),
    [
        (GITHUB, f"{GITHUB}/blob/{ONE}/docker/a%20b%23.txt#L7"),
        ("https://github.acme.com/o/n", f"https://github.acme.com/o/n/blob/{ONE}/docker/a%20b%23.txt#L7"),
        (GITLAB, f"{GITLAB}/-/blob/{ONE}/docker/a%20b%23.txt#L7"),
        (GITEA, f"{GITEA}/src/commit/{ONE}/docker/a%20b%23.txt#L7"),
        (UNKNOWN, None),
        ("https://notgithub.com/o/n", None),
        ("http://github.com/o/n", None),
        (None, None),
    ],
)
def test_a_line_of_a_file(repository, expected):
    """The path is quoted, the line is an anchor."""
    assert expected == pages(repository).file(ONE, "docker/a b#.txt", 7)


def test_a_file_without_a_line():
    """It has no anchor."""
    assert f"{GITHUB}/blob/{ONE}/Dockerfile" == pages(GITHUB).file(ONE, "Dockerfile")


@pytest.mark.parametrize(
    ("repository", "expected"),
    [(GITHUB, f"blame/{ONE}"), (GITLAB, f"-/blame/{ONE}"), (GITEA, f"blame/commit/{ONE}")],
)
@pytest.mark.parametrize(
    ("place", "path"),
    [
        ("csrc/core.cpp:103", "csrc/core.cpp#L103"),
        ("a:b#c.py:7", "a%3Ab%23c.py#L7"),
        ("a:b", "a%3Ab"),
        ("Dockerfile", "Dockerfile"),
        (":7", "%3A7"),
        ("caf\udce9/ä.c:7", "caf%E9/%C3%A4.c#L7"),
    ],
)
def test_blame(repository, expected, place, path):
    """The blame of `path:line` at a commit; what has no number at its end is all path."""
    assert f"{repository}/{expected}/{path}" == pages(repository).blame(ONE, place)


@pytest.mark.parametrize(
    ("repository", "commit", "compare", "pull"),
    [
        (GITHUB, f"commit/{ONE}", f"compare/{ONE}...{TWO}", "pull/95"),
        (GITLAB, f"-/commit/{ONE}", f"-/compare/{ONE}...{TWO}", "-/merge_requests/95"),
        (GITEA, f"commit/{ONE}", f"compare/{ONE}...{TWO}", "pulls/95"),
    ],
)
def test_commits_and_proposals(repository, commit, compare, pull):
    """Each forge has its own paths; a change is shown where it was discussed, else as its landing."""
    shown = pages(repository)
    assert f"{repository}/{commit}" == shown.commit(ONE)
    assert f"{repository}/{compare}" == shown.compare(ONE, TWO)
    assert f"{repository}/{pull}" == shown.change(change(95))
    assert f"{repository}/{commit}" == shown.change(change(None))


def test_nothing_is_guessed():
    """An unknown host has no links."""
    assert [None] * 5 == everything(pages(UNKNOWN))


# --- hosts that the configuration names --------------------------------------------------------------------------


def settings(**forges: dict) -> Settings:
    """Return a configuration with forges, by host."""
    return Settings.model_validate({"downstreams": [{"repository": GITHUB}], "forges": forges})


@pytest.mark.parametrize(("kind", "like"), [("github", GITHUB), ("gitlab", "https://gitlab.com/o/n"), ("gitea", GITEA)])
@pytest.mark.parametrize("host", ["git.acme.com", "git.acme.com:8443"])
def test_a_named_host(kind, like, host):
    """It has the links of its kind, wherever its API is, on a port of its own too."""
    named = settings(**{host: {"kind": kind, "api": "https://api.acme.com/x"}})
    expected = [url.replace(like, f"https://{host}/o/n") for url in everything(pages(like)) if url]
    assert 5 == len(expected)
    assert expected == everything(named.pages(f"https://{host}/o/n"))


@pytest.mark.parametrize(
    "repository",
    [
        "https://git.acme.com:8443/o/n",
        "https://other.acme.com/o/n",
        "https://git.acme.com.evil.org/o/n",
        "http://git.acme.com/o/n",
        "file:///srv/git.acme.com/o/n",
        None,
    ],
)
def test_other_hosts(repository):
    """Another port is another server; no link leads to a page without https."""
    named = settings(**{"git.acme.com": {"kind": "gitlab"}})
    assert [None] * 5 == everything(named.pages(repository))


def test_the_configuration_knows_better():
    """A host whose name says one thing can run another; those that are not named are told by their names."""
    named = settings(**{"gitlab.acme.com": {"kind": "gitea"}})
    assert "gitea" == named.pages("https://gitlab.acme.com/o/n").forge
    assert "gitlab" == named.pages(GITLAB).forge
