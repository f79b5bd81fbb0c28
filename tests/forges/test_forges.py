"""Every kind of forge answers the same questions and does the same deeds."""

import pytest

from tests.forges.forgefake import Repository
from watcher.errors import ForgeError
from watcher.forges import TicketState
from watcher.model import oid

MERGE = oid("b5" * 20)
MARKER = "<!-- watcher: bump 0123 b5b5 -->"
HOSTILE = "Bump \x1b[31mred\x1b[0m\n/close \u202ereversed @everyone #1 <script>\ud83d " + "x" * 400


@pytest.fixture
def repository(forge):
    """Return the repository that is asked about."""
    return forge.fake.repository


# --- the repository --------------------------------------------------------------------------------------------------


def test_a_repository(forge, repository):
    """Its id, its name, what is in it and what the token may."""
    repository.default_branch, repository.parent = "trunk", "upstream/images"
    found = forge.forge().repository()
    assert (4711, "acme/images", "trunk", False, False, True, "upstream/images") == (
        *(
            found.id,
            found.path,
            found.default_branch,
            found.is_archived,
            found.is_private,
            found.may_push,
            found.parent,
        ),
    )


def test_without_a_token_what_is_public_is_read(forge):
    """And whether one may push is not known."""
    assert forge.forge(token=None).repository().may_push is None
    assert "authorization" not in forge.fake.asked[-1].headers


@pytest.mark.parametrize(("token", "may"), [("good-token", True), ("weak-token", False)])
def test_the_right_to_push(forge, token, may):
    """It is the token's."""
    assert may is forge.forge(token=token).repository().may_push


def test_an_archived_and_private_repository(forge, repository):
    """Is said to be both."""
    repository.is_archived = repository.is_private = True
    found = forge.forge().repository()
    assert (True, True) == (found.is_archived, found.is_private)


def test_a_renamed_repository(forge, repository):
    """Is found under its old name, with the same id and its new path; pages and deeds follow too."""
    forge.fake.moved["acme/old"] = "acme/images"
    repository.add(title="One", head="bump/a", base="main")
    asked = forge.forge("acme/old")
    found = asked.repository()
    assert (4711, "acme/images") == (found.id, found.path)
    assert "One" == asked.pull(1).title
    assert "New" == asked.open_issue("New", "text").title
    assert ["bump/a"] == [it.head for it in asked.find_pulls("bump/a")]


# --- evidence --------------------------------------------------------------------------------------------------------


def test_the_pull_request_of_a_landing(forge, repository):
    """Has its title, labels, text, author, and the commit as which it was merged."""
    repository.add(title="An issue")
    repository.add(
        title="Release the handle once",
        body="Fixes #1",
        labels=["bug", "security"],
        author="alice",
        head="fix/double",
        base="main",
        state="closed",
        merged_as=MERGE,
    )
    pull = forge.forge(token=None).pull_of(MERGE)
    assert (2, "Release the handle once", TicketState.MERGED, "fix/double", "main", ("bug", "security")) == (
        *(pull.number, pull.title, pull.state, pull.head, pull.base, pull.labels),
    )
    assert ("Fixes #1", "alice", MERGE, False) == (pull.body, pull.author, pull.merged_as, pull.is_closed_by_person)
    assert pull.url.startswith(f"https://{forge.host}/acme/images/")


@pytest.mark.parametrize("commit", ["c4" * 20, "0" * 40])
def test_a_commit_without_a_pull_request(forge, commit):
    """Has none, whether the forge knows the commit or not."""
    assert forge.forge().pull_of(oid(commit)) is None


def test_the_linked_issues(forge, repository):
    """Are those that the pull request closes, with their labels; what is not there is left out."""
    repository.add(title="Crash on free", labels=["bug"], author="carol")
    repository.add(title="Fix", body="Closes #1 and Fixes #99", head="fix", base="main")
    asked = forge.forge(token=None)
    linked = asked.linked_issues(asked.pull(2))
    assert [(1, "Crash on free", ("bug",), TicketState.OPEN)] == [
        (it.number, it.title, it.labels, it.state) for it in linked
    ]


def test_what_happened_to_a_ref(forge, repository):
    """Is told where the forge keeps a log: GitHub all, GitLab all but forced pushes, Gitea nothing."""
    for day, kind in enumerate(("created", "pushed", "forced", "deleted"), 1):
        repository.events.append(
            {
                "ref": "refs/heads/topic",
                "kind": kind,
                "before": "0" * 40 if kind == "created" else "a1" * 20,
                "after": "0" * 40 if kind == "deleted" else "b2" * 20,
                "at": f"2026-08-0{day}T12:00:00Z",
                "actor": "mallory",
            }
        )
    repository.events.append(repository.events[-1] | {"ref": "refs/heads/topic2"})
    told = forge.forge(token=None).ref_events("refs/heads/topic")
    expected = {"github": ["deleted", "forced", "created"], "gitlab": ["deleted", "created"], "gitea": []}
    assert expected[forge.kind] == [it.kind for it in told]
    if told:
        last = told[0]
        assert ("refs/heads/topic", "a1" * 20, None, "mallory") == (last.ref, last.before, last.after, last.actor)
        assert "2026-08-04T12:00:00+00:00" == last.at.isoformat()


# --- branches --------------------------------------------------------------------------------------------------------


def test_a_branch(forge, repository):
    """Is its tip, by exactly its name, whatever letters that has."""
    repository.tips |= {"bump/saver-b5588e83": "b5" * 20, "über/100%#1": "c6" * 20}
    asked = forge.forge(token=None)
    assert ["b5" * 20, "c6" * 20, None, None] == [
        asked.branch(name) for name in ("bump/saver-b5588e83", "über/100%#1", "bump/saver", "gone")
    ]


def test_branches_of_a_real_repository(asking, upstream):
    """The fakes show what a bare repository really has."""
    drawn = upstream.draw("A---B (main)")
    for kind in ("github", "gitlab", "gitea"):
        asked = asking(kind, Repository(bare=upstream.path)).forge()
        assert (drawn["B"], None) == (asked.branch("main"), asked.branch("topic"))


def test_a_protected_branch(forge, repository):
    """Is one; others and absent ones are not."""
    repository.tips["topic"] = "c3" * 20
    repository.protected.add("main")
    asked = forge.forge()
    assert [True, False, False] == [asked.is_protected(name) for name in ("main", "topic", "gone")]


# --- issues ----------------------------------------------------------------------------------------------------------


def test_an_issue_is_opened_found_updated_and_closed(forge, repository):
    """By its marker, among others; the one who closes it is the account itself."""
    asked = forge.forge()
    repository.add(title="Of somebody else", body=MARKER, author="carol")
    opened = asked.open_issue("Bump saver", f"Body\n{MARKER}", ["watcher", "deps"])
    assert (2, "Bump saver", TicketState.OPEN, ("watcher", "deps")) == (
        *(opened.number, opened.title, opened.state, opened.labels),
    )
    assert [2] == [it.number for it in asked.find_issues(MARKER)]
    updated = asked.update_issue(2, "Bump saver further", f"More\n{MARKER}")
    assert ("Bump saver further", f"More\n{MARKER}") == (updated.title, updated.body)
    asked.comment(2, "superseded")
    asked.close_issue(2)
    [found] = asked.find_issues(MARKER)
    assert (TicketState.CLOSED, False) == (found.state, found.is_closed_by_person)
    assert ["superseded"] == repository.ticket("2").comments
    assert () == asked.find_issues("<!-- watcher: other -->")


def test_an_issue_closed_by_a_person(forge, repository):
    """Is told from one that we closed."""
    repository.add(title="Bump", body=MARKER, state="closed", closed_by="alice")
    asked = forge.forge()
    assert [True] == [it.is_closed_by_person for it in asked.find_issues(MARKER)]
    assert asked.issue(1).is_closed_by_person


def test_issues_on_later_pages(forge, repository):
    """Are found as well."""
    repository.add(title="Bump", body=MARKER)
    for number in range(230):
        repository.add(title=f"Other {number}")
    assert [1] == [it.number for it in forge.forge().find_issues(MARKER)]


# --- pull requests ---------------------------------------------------------------------------------------------------


def test_a_pull_request_is_opened_updated_superseded(forge, repository):
    """The newer one is found beside the older, which we close."""
    repository.tips |= {"bump/saver-1": "c1" * 20, "bump/saver-2": "c2" * 20, "bump/other": "c3" * 20}
    asked = forge.forge()
    for head in ("bump/saver-1", "bump/saver-2", "bump/other"):
        opened = asked.open_pull(head, "main", f"Bump by {head}", "body")
        assert (head, "main", TicketState.OPEN) == (opened.head, opened.base, opened.state)
    assert "Again" == asked.update_pull(1, "Again", "new body").title
    assert "new body" == asked.pull(1).body
    asked.close_pull(1, "superseded by 2")
    found = asked.find_pulls("bump/saver-")
    assert [(2, TicketState.OPEN, False), (1, TicketState.CLOSED, False)] == [
        (it.number, it.state, it.is_closed_by_person) for it in found
    ]
    assert ["superseded by 2"] == repository.ticket("1").comments


def test_a_pull_request_closed_by_hand(forge, repository):
    """Is found after its branch was deleted too, and told from one that we closed."""
    repository.add(title="Bump", head="bump/saver-1", base="main", state="closed", closed_by="alice")
    repository.add(title="Bump", head="bump/saver-1", base="main", state="closed", closed_by="bot")
    assert [(2, False), (1, True)] == [
        (it.number, it.is_closed_by_person) for it in forge.forge().find_pulls("bump/saver-1")
    ]


def test_a_pull_request_from_a_fork(forge, repository):
    """Is not ours, whatever its branch is called."""
    repository.tips["bump/saver-1"] = "c1" * 20
    repository.add(title="Bump", head="bump/saver-1", base="main", fork="mallory/images")
    assert () == forge.forge().find_pulls("bump/")


def test_one_that_is_open_already(forge, repository):
    """Is a duplicate."""
    repository.tips["bump/saver"] = "c1" * 20
    asked = forge.forge()
    asked.open_pull("bump/saver", "main", "Bump", "body")
    with pytest.raises(
        ForgeError, match=r"cannot open (pull|merge) requests in acme/images: there is one already"
    ) as caught:
        asked.open_pull("bump/saver", "main", "Bump", "body")
    assert "duplicate" == caught.value.kind


def test_a_default_branch_that_was_renamed_meanwhile(forge, repository):
    """Is said, with the name that it has now."""
    repository.tips = {"trunk": "a1" * 20, "bump/saver": "c1" * 20}
    repository.default_branch = "trunk"
    with pytest.raises(ForgeError, match=r"no branch main .* default branch is now trunk") as caught:
        forge.forge().open_pull("bump/saver", "main", "Bump", "body")
    assert "unfit" == caught.value.kind


def test_a_head_that_is_not_there(forge):
    """Can not be brought."""
    with pytest.raises(ForgeError) as caught:
        forge.forge().open_pull("bump/gone", "main", "Bump", "body")
    assert caught.value.kind in {"unfit", "missing"}


# --- strangers' texts ------------------------------------------------------------------------------------------------


def test_hostile_titles_are_sent_harmless(forge, repository):
    """On one line, without escapes and reordering, and no longer than every forge takes."""
    opened = forge.forge().open_issue(HOSTILE, "text")
    assert opened.title == repository.ticket("1").title
    assert 250 == len(opened.title)
    assert opened.title.isprintable()


def test_hostile_titles_are_read(forge, repository):
    """As they are, but for what is no character at all; an address that is none is not handed on."""
    repository.add(title=HOSTILE, labels=["\u202e"], head="x", base="main")
    assert HOSTILE.replace("\ud83d", "\ufffd") == forge.forge().pull(1).title


def test_no_command_is_carried_out(forge, repository):
    """A line of a text that a forge would obey stays a line of text."""
    asked = forge.forge()
    opened = asked.open_issue("Bump", "Subject of a commit:\n/close\n  /close now")
    asked.comment(opened.number, "/close")
    assert TicketState.OPEN == asked.issue(opened.number).state
