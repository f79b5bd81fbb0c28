"""Where a browser shows things, on each sort of forge; no link where the host's name says nothing."""

import pytest

from watcher.web import commit_url, compare_url, file_url, pull_url

ONE, TWO = "1" * 40, "2" * 40
GITHUB, GITLAB, GITEA = "https://github.com/o/n", "https://gitlab.example.org/g/s/n", "https://codeberg.org/o/n"


@pytest.mark.parametrize(
    ("repository", "expected"),
    [
        (GITHUB, f"{GITHUB}/blob/{ONE}/docker/a%20b%23.txt#L7"),
        ("https://github.acme.com/o/n", f"https://github.acme.com/o/n/blob/{ONE}/docker/a%20b%23.txt#L7"),
        (GITLAB, f"{GITLAB}/-/blob/{ONE}/docker/a%20b%23.txt#L7"),
        (GITEA, f"{GITEA}/src/commit/{ONE}/docker/a%20b%23.txt#L7"),
        ("https://git.example.org/o/n", None),
        ("https://notgithub.com/o/n", None),
        ("http://github.com/o/n", None),
        (None, None),
    ],
)
def test_a_line_of_a_file(repository, expected):
    """The path is quoted, the line is an anchor."""
    assert expected == file_url(repository, ONE, "docker/a b#.txt", 7)


def test_a_file_without_a_line():
    """It has no anchor."""
    assert f"{GITHUB}/blob/{ONE}/Dockerfile" == file_url(GITHUB, ONE, "Dockerfile")


@pytest.mark.parametrize(
    ("repository", "commit", "compare", "pull"),
    [
        (GITHUB, f"commit/{ONE}", f"compare/{ONE}...{TWO}", "pull/95"),
        (GITLAB, f"-/commit/{ONE}", f"-/compare/{ONE}...{TWO}", "-/merge_requests/95"),
        (GITEA, f"commit/{ONE}", f"compare/{ONE}...{TWO}", "pulls/95"),
    ],
)
def test_commits_and_proposals(repository, commit, compare, pull):
    """Each forge has its own paths."""
    assert f"{repository}/{commit}" == commit_url(repository, ONE)
    assert f"{repository}/{compare}" == compare_url(repository, ONE, TWO)
    assert f"{repository}/{pull}" == pull_url(repository, 95)


def test_nothing_is_guessed():
    """An unknown host has no links."""
    unknown = "https://git.example.org/o/n"
    assert [None] * 3 == [commit_url(unknown, ONE), compare_url(unknown, ONE, TWO), pull_url(unknown, 1)]
