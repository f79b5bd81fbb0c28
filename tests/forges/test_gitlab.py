"""What only GitLab does."""

import pytest

from watcher.forges.gitlab import _harmless


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("/close", "\\/close"),
        ("a\n  /merge\n/assign @me", "a\n  \\/merge\n\\/assign @me"),
        ("a /close\n- /close\n// no\n/", "a /close\n- /close\n// no\n/"),
        ("a\r\n/close\r\n", "a\r\n\\/close\r\n"),
    ],
)
def test_no_line_is_a_command(text, expected):
    """GitLab carries out a line that begins with `/` and a word."""
    assert expected == _harmless(text)


def test_a_repository_in_a_deeper_group(asking):
    """Its whole path is one part of the address."""
    gitlab = asking("gitlab")
    repository = gitlab.fake.repository
    repository.path = "acme/gpu/images"
    gitlab.fake.repositories = {repository.path: repository}
    assert "acme/gpu/images" == gitlab.forge("acme/gpu/images").repository().path


def test_a_merge_without_a_merge_commit(asking):
    """A fast-forward landed as the tip of its branch."""
    gitlab = asking("gitlab")
    gitlab.fake.repository.add(title="Fix", head="fix", base="main", merged_as="b5" * 20)
    told = gitlab.fake.checked

    def fast_forward(asked, route):
        answer = told(asked, route)
        answer.body["merge_commit_sha"] = None
        return answer

    gitlab.fake.checked = fast_forward
    assert "8e" * 20 == gitlab.forge(token=None).pull(1).merged_as
