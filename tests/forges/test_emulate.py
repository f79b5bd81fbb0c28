"""What is proposed, before a GitHub that we did not write: npm's emulate (tests/forges/emulated.py).

It is laxer than GitHub, and nothing is asked here about that: it makes a base that is not there, opens a second pull
request for the same branch, says that everybody may push, does not tell who closed a pull request, knows the pull
request of no commit, and says 403 of a private repository. It never answers 429 nor, to what we send, 409 or 422.
GitHub's fake does all that as GitHub describes it: see tests/stories.
"""

import base64
import os
import socket

import httpx
import pytest

from tests.forges.emulated import ALLOWANCE, BOT, PERSON, PLACE, REFUSED, STRANGER, TIRED, emulate, lack
from tests.stories.stage import GITHUB, Stage
from tests.stories.world import World
from watcher.errors import ForgeError, UnobservedError
from watcher.proposing import Outcome, propose_issues, propose_pulls
from watcher.report.proposal import body, title
from watcher.upstream.git import Git

pytestmark = pytest.mark.xdist_group("emulate")  # so that one worker starts it, with --dist loadgroup
BOTH = pytest.mark.parametrize(("act", "sort"), [(propose_issues, "issues"), (propose_pulls, "pulls")])
PULLS = "pulls"


class Emulating(Stage):
    """The stage with emulate's API; whatever is asked of it, it has the branches that git has."""

    def __init__(self, world, peer, plans):
        super().__init__(world)
        self.plans = plans
        self._end_line()
        self.peer, self.api, self.lost = peer, peer.api, None
        self.http = httpx.Client(trust_env=False, timeout=5, event_hooks={"request": [self._before]})

    def _end_line(self):
        """End the message of the drawn commit as git and forges do: emulate makes no other commits."""
        git = Git(directory=self.path)
        whole = git.run("cat-file", "commit", "main") + b"\n"
        made = git.run("hash-object", "-t", "commit", "-w", "--stdin", stdin=whole).decode().strip()
        git.run("update-ref", "refs/heads/main", made)

    def _before(self, request):
        self.peer.copy(self.path)
        if request.method == self.lost:
            raise httpx.ConnectError("lost", request=request)

    def plan(self, to="minimal"):
        """Return a plan, made once: the upstreams of all tests are the same to the last bit."""
        if to not in self.plans:
            self.plans[to] = super().plan(to)
        return self.plans[to]

    def tickets(self, sort):
        """Return all issues, or all pull requests, as their owner sees them, oldest first."""
        return self.peer.ask("GET", f"{PLACE}/{sort}?state=all&direction=asc")

    def rename_main(self):
        """Let the default branch have another name, in git and on the forge."""
        self.git("branch", "trunk", "main")
        self.git("symbolic-ref", "HEAD", "refs/heads/trunk")
        self.peer.copy(self.path)
        self.peer.ask("PATCH", PLACE, {"default_branch": "trunk"})
        self.git("branch", "-D", "main")


@pytest.fixture(scope="module")
def running(http):
    """Run emulate for all tests here; without it they are skipped, and fail where WATCHER_NO_SKIP is set."""
    if reason := lack():
        (pytest.fail if os.environ.get("WATCHER_NO_SKIP") else pytest.skip)(reason)
    with emulate(http) as peer:
        yield peer


@pytest.fixture(scope="module")
def plans():
    """Keep the plans that were made, by what the pins move to."""
    return {}


@pytest.fixture(scope="module")
def tired(running):
    """Spend the allowance of one token."""
    request = f"GET /rate_limit HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {TIRED}\r\n".encode()
    with socket.create_connection(("127.0.0.1", httpx.URL(running.api).port)) as peer:
        peer.sendall((request + b"\r\n") * (ALLOWANCE - 1) + request + b"Connection: close\r\n\r\n")
        while peer.recv(1 << 20):
            pass
    return TIRED


@pytest.fixture
def stage(running, server, plans, tmp_path, monkeypatch):
    """Set the stage, with a token that may push."""
    monkeypatch.setenv("FORGE_TOKEN", BOT)
    running.forget()
    made = Emulating(World(folder=tmp_path, server=server), running, plans)
    running.copy(made.path)
    with made.http:
        yield made


def refused(act):
    """Return the error that something ends in."""
    with pytest.raises(ForgeError) as caught:
        act()
    return caught.value


# --- opened, updated, superseded, closed -----------------------------------------------------------------------------


@BOTH
def test_it_is_opened_once(stage, act, sort):
    """In our words and from the token's account; proposed again, nothing changes."""
    plan = stage.plan()
    first, again = stage.propose(act, plan=plan), stage.propose(act, plan=plan)
    [ticket] = stage.tickets(sort)
    assert (Outcome.OPENED, Outcome.UNCHANGED) == (first.outcome, again.outcome)
    assert (title(plan), body(plan), "open", "bot") == (
        *(ticket["title"], ticket["body"], ticket["state"], ticket["user"]["login"]),
    )
    assert ticket["html_url"] == first.url == again.url


def test_a_pull_request_brings_the_commit_that_was_pushed(stage):
    """One commit on top of the default branch, with the new ref and nothing else in the manifests."""
    stage.propose(propose_pulls)
    [pull] = stage.tickets(PULLS)
    tip = stage.git("rev-parse", stage.branch)
    assert (stage.branch, tip, "main") == (pull["head"]["ref"], pull["head"]["sha"], pull["base"]["ref"])
    commit = stage.peer.ask("GET", f"{PLACE}/git/commits/{tip}")
    assert [stage.git("rev-parse", "main")] == [it["sha"] for it in commit["parents"]]
    for path, before in stage.images.manifests().items():
        found = stage.peer.ask("GET", f"{PLACE}/contents/{path}?ref={tip}")
        assert before.replace(stage.oids["B"], stage.oids["F"]) == base64.b64decode(found["content"]).decode()


@BOTH
def test_words_that_changed_are_brought_up_to_date(stage, act, sort):
    """Somebody edited the title and the text."""
    plan = stage.plan()
    stage.propose(act, plan=plan)
    stage.peer.ask("PATCH", f"{PLACE}/{sort}/1", {"title": "Bump", "body": body(plan) + "\nmore"})
    assert Outcome.UPDATED == stage.propose(act, plan=plan).outcome
    assert [(title(plan), body(plan))] == [(it["title"], it["body"]) for it in stage.tickets(sort)]


@BOTH
def test_a_newer_target_takes_the_place_of_the_old_one(stage, act, sort):
    """The old one is closed with a word about which is the new one."""
    old = stage.propose(act)
    new = stage.propose(act, stage.oids["C"])
    assert (Outcome.OPENED, (old.url,)) == (new.outcome, new.replaced)
    assert ["closed", "open"] == [it["state"] for it in stage.tickets(sort)]
    [comment] = stage.peer.ask("GET", f"{PLACE}/issues/1/comments")
    assert f"Superseded by {new.url}" == comment["body"]


@BOTH
def test_what_a_person_closed_stays_closed(stage, act, sort):
    """For this target; another one is another question."""
    stage.propose(act)
    stage.peer.ask("PATCH", f"{PLACE}/{sort}/1", {"state": "closed"}, token=PERSON)
    assert Outcome.DECLINED == stage.propose(act).outcome
    assert 1 == len(stage.tickets(sort))
    assert Outcome.OPENED == stage.propose(act, stage.oids["C"]).outcome


@pytest.mark.parametrize(("act", "outcome"), [(propose_issues, Outcome.OPENED), (propose_pulls, Outcome.DECLINED)])
def test_what_we_closed_ourselves_is_no_answer(stage, act, outcome):
    """It is opened again; where a forge does not tell who closed it, as emulate with pull requests, a person did."""
    stage.propose(act)
    stage.propose(act, stage.oids["C"])
    assert outcome == stage.propose(act).outcome


def test_a_merged_one_is_not_opened_again(stage):
    """Whatever the manifests say by now."""
    stage.propose(propose_pulls)
    stage.peer.ask("PUT", f"{PLACE}/pulls/1/merge", {"merge_method": "squash"})
    assert Outcome.MERGED == stage.propose(propose_pulls).outcome


# --- branches --------------------------------------------------------------------------------------------------------


def test_a_branch_without_its_pull_request_is_taken_up(stage):
    """The connection broke between the two."""
    stage.lost = "POST"
    assert "busy" == refused(lambda: stage.propose(propose_pulls)).kind
    stage.lost = None
    tip = stage.git("rev-parse", stage.branch)
    assert Outcome.OPENED == stage.propose(propose_pulls).outcome
    assert [tip] == [it["head"]["sha"] for it in stage.tickets(PULLS)]


def test_a_default_branch_that_was_renamed_meanwhile(stage):
    """The pull request is for the branch that is the default now; the old one does not come back."""
    plan = stage.plan()
    stage.rename_main()
    assert Outcome.OPENED == stage.propose(propose_pulls, plan=plan).outcome
    assert ["trunk"] == [it["base"]["ref"] for it in stage.tickets(PULLS)]
    assert {stage.branch, "trunk"} == {it["name"] for it in stage.peer.ask("GET", f"{PLACE}/branches")}


def test_a_configured_branch_that_was_renamed_meanwhile(stage):
    """It cannot be read, and nothing is made in its place."""
    plan = stage.plan()
    stage.rename_main()
    stage.world.config["downstreams"] = [stage.images.config() | {"branch": "main"}]
    with pytest.raises(UnobservedError, match=f"{GITHUB} could not be read: it has no branch main"):
        stage.propose(propose_pulls, plan=plan)
    assert ([], ["trunk"]) == (
        stage.tickets(PULLS),
        [it["name"] for it in stage.peer.ask("GET", f"{PLACE}/branches")],
    )


# --- refused ---------------------------------------------------------------------------------------------------------


@BOTH
def test_a_token_that_is_not_accepted(stage, act, sort, monkeypatch):
    """401 says where the token stands, and not what it is."""
    monkeypatch.setenv("FORGE_TOKEN", REFUSED)
    error = refused(lambda: stage.propose(act))
    assert "unauthorised" == error.kind
    assert str(error).startswith("github.com does not accept the token in env:FORGE_TOKEN")
    assert REFUSED not in str(error)
    assert [] == stage.tickets(sort)


@BOTH
def test_a_repository_that_is_not_there(stage, act, sort):
    """404 is missing, or hidden."""
    stage.peer.ask("DELETE", PLACE)
    error = refused(lambda: stage.propose(act))
    assert "missing" == error.kind
    assert "it is not there, or it is private and hidden from the token in env:FORGE_TOKEN" in str(error)


@BOTH
def test_a_token_that_may_not(stage, act, sort, monkeypatch):
    """403 names the token, what it may not, and the right that it needs."""
    stage.peer.ask("PATCH", PLACE, {"private": True})
    monkeypatch.setenv("FORGE_TOKEN", STRANGER)
    error = refused(lambda: stage.propose(act))
    assert "forbidden" == error.kind
    assert str(error).startswith("the token in env:FORGE_TOKEN may not read ")
    assert [] == stage.tickets(sort)


def test_an_archived_repository(stage):
    """Nobody can propose anything there, and nothing is pushed."""
    stage.peer.ask("PATCH", PLACE, {"archived": True})
    assert "archived" == refused(lambda: stage.propose(propose_pulls)).kind
    assert "main" == stage.git("for-each-ref", "--format=%(refname:short)", "refs/heads")


@BOTH
def test_an_allowance_that_is_spent(stage, act, sort, tired, monkeypatch):
    """403 with nothing left is no lack of rights: it says when to ask again, an hour at most."""
    monkeypatch.setenv("FORGE_TOKEN", tired)
    error = refused(lambda: stage.propose(act))
    assert "limited" == error.kind
    assert str(error).startswith("github.com says that we ask too often: ask again in ")
    assert error.again is not None
    assert [] == stage.tickets(sort)


# --- what else is asked ----------------------------------------------------------------------------------------------


def test_what_else_is_asked(stage):
    """A branch by its whole name, its protection, the issues that a pull request closes, a log that is not there."""
    stage.peer.ask("POST", f"{PLACE}/issues", {"title": "Crash on close", "labels": []})
    stage.git("branch", "topic", "main")
    forge = stage.forge()
    made = forge.open_pull("topic", "main", "Fix", "Fixes #1")
    assert [(1, "Crash on close")] == [(it.number, it.title) for it in forge.linked_issues(made)]
    assert [stage.git("rev-parse", "main"), None] == [forge.branch(name) for name in ("topic", "top")]
    rules = ("required_status_checks", "enforce_admins", "required_pull_request_reviews", "restrictions")
    stage.peer.ask("PUT", f"{PLACE}/branches/main/protection", dict.fromkeys(rules))
    assert [True, False, False] == [forge.is_protected(name) for name in ("main", "topic", "gone")]
    assert () == forge.ref_events("refs/heads/topic")
