"""`watcher bump --issue` and `--pull-request`: what a person reads, what a script gets, and what is left behind."""

import json
import sys

import pytest

from tests.forges.forgefake import Account
from tests.stories.stage import GITHUB, Faked
from watcher.cli import main
from watcher.upstream.git import Git

WAYS = {"issue": ("--issue", "issues", "issue"), "pull": ("--pull-request", "pull", "pull request")}
FORBIDDEN = "Resource not accessible by personal access token"


class Command:
    """Run the command beside a configuration, in this process: so nobody waits between two tries."""

    def __init__(self, stage, tmp_path, monkeypatch, capsys):
        self.stage, self.github, self.repository = stage, stage.github.fake, stage.repository
        self._capsys, self._patch = capsys, monkeypatch
        monkeypatch.chdir(tmp_path)
        self.configure()

    def configure(self, **more):
        """Write config.yaml."""
        (self.stage.world.folder / "config.yaml").write_text(json.dumps(self.stage.document(**more)))

    def bump(self, *options):
        """Return the exit code, what is printed below the plan, and what is said to the person."""
        self._patch.setattr(sys, "argv", ["watcher", "bump", "engine", "--all-variants", *options])
        with pytest.raises(SystemExit) as ended:
            main()
        out, said = self._capsys.readouterr()
        return ended.value.code, "\n".join(out.splitlines()[-3:]), said

    def refused(self, *options):
        """Return the one line that a refusal is told in; nothing was opened, and the exit code says so."""
        code, _, said = self.bump(*options)
        [line] = said.splitlines()
        assert (3, []) == (code, self.repository.tickets)
        assert line.startswith("watcher: ")
        return line.removeprefix("watcher: ")

    def commit(self, branch, message, *options):
        """Let a person commit to a branch of the downstream, or amend what it holds; return the commit."""
        parent = f"{branch}^" if "--amend" in options else branch
        who = [("user.name", "Dana"), ("user.email", "dana@example.org")]
        who += [("author.name", "watcher"), ("author.email", "watcher@localhost")] if "--amend" in options else []
        git = Git(directory=self.stage.path, config=tuple(who))
        made = git.run("commit-tree", f"{branch}^{{tree}}", "-p", parent, "-m", message).decode().strip()
        git.run("update-ref", f"refs/heads/{branch}", made)
        return made

    @property
    def branches(self):
        """Return the branches of the downstream."""
        return self.stage.git("for-each-ref", "--format=%(refname:short)", "refs/heads").split()


@pytest.fixture
def command(world, asking, tmp_path, monkeypatch, capsys):
    """Set the stage, with a token that may push."""
    monkeypatch.setenv("FORGE_TOKEN", "good-token")
    return Command(Faked(world, asking), tmp_path, monkeypatch, capsys)


@pytest.mark.parametrize("way", WAYS)
def test_the_life_of_a_proposal(command, way):
    """Opened, said already, brought up to date, superseded, and declined: two or three lines each, and exit code 0."""
    option, place, noun = WAYS[way]
    [first, second] = (f"{GITHUB}/{place}/{number}" for number in (1, 2))
    words = f"Bump engine to {command.stage.oids['F'][:12]}"
    code, printed, said = command.bump(option)
    commit = f" with {command.stage.git('rev-parse', command.stage.branch)[:12]}" if way == "pull" else ""
    assert (0, "") == (code, said)
    assert printed.endswith(f"\nopened {noun} 1{commit}: {words}\n{first}")

    assert command.bump(option)[1].endswith(f"\n{noun} 1 says it already\n{first}")

    command.repository.tickets[0].body += "\nmore"
    assert command.bump(option)[1].endswith(f"\nupdated {noun} 1\n{first}")

    code, printed, said = command.bump(option, "--to", command.stage.oids["C"])
    assert (0, "") == (code, said)
    assert printed.endswith(f": Bump engine to {command.stage.oids['C'][:12]}\n{second}\nsuperseded {first}")

    command.repository.tickets[1].state, command.repository.tickets[1].closed_by = "closed", "dana"
    code, printed, said = command.bump(option, "--to", command.stage.oids["C"])
    assert (0, "") == (code, said)
    assert printed.endswith(f"\n{second} was closed by a person: it is not opened again for this target\n{second}")
    assert ["closed", "closed"] == [it.state for it in command.repository.tickets]


def test_a_merged_one_is_said_to_be_merged(command):
    """Nothing is opened for what the downstream has."""
    command.bump("--pull-request")
    command.repository.tickets[0].state, command.repository.tickets[0].merged_as = "closed", "c" * 40
    code, printed, said = command.bump("--pull-request")
    assert (0, "") == (code, said)
    assert printed.endswith(f"\npull request 1 is merged already\n{GITHUB}/pull/1")


# --- refused ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("status", "message", "headers", "words"),
    [
        (
            403,
            "API rate limit exceeded",
            {"X_RateLimit_Remaining": "0"},
            "says that we ask too often: ask again in 1 min",
        ),
        (
            403,
            FORBIDDEN,
            {},
            "the token in env:FORGE_TOKEN may not open {things} in acme/images: give it {right}: write",
        ),
        (409, "Conflict", {}, "github.com does not open {things} in acme/images as it was asked to (409)"),
        (422, "Validation Failed", {}, "github.com does not open {things} in acme/images as it was asked to (422)"),
        (429, "Slow down", {"Retry_After": "90"}, "github.com says that we ask too often: ask again in 2 min"),
        (503, "Unicorn", {}, "github.com has trouble (503): try again later"),
    ],
)
def test_the_forge_refuses(command, way, status, message, headers, words):
    """What it means and what to do, then what the forge says."""
    command.github.fault(status, {"message": message}, method="POST", **headers)
    noun = WAYS[way][2]
    line = command.refused(WAYS[way][0])
    assert words.format(things=f"{noun}s", right=f"{noun}s".capitalize()) in line
    assert line.endswith(f" (github.com says: {message})")


@pytest.mark.parametrize("way", WAYS)
def test_a_token_that_is_not_accepted(command, way, monkeypatch):
    """401: it says where the token stands, and not what it is."""
    monkeypatch.setenv("FORGE_TOKEN", "bad-token")
    line = command.refused(WAYS[way][0])
    assert line.startswith("github.com does not accept the token in env:FORGE_TOKEN: it is wrong, expired or revoked;")
    assert "bad-token" not in line
    assert ["main"] == command.branches


@pytest.mark.parametrize("way", WAYS)
def test_no_token(command, way, monkeypatch):
    """It says how one is given."""
    command.configure(forges={"github.com": {}})
    line = command.refused(WAYS[way][0])
    assert "name one in the configuration, forges: {github.com: {token: env:NAME}}" in line


@pytest.mark.parametrize("way", WAYS)
def test_a_repository_that_is_not_there(command, way):
    """404: it is missing, or hidden from the token."""
    command.github.repositories.clear()
    line = command.refused(WAYS[way][0])
    assert "on github.com it is not there, or it is private and hidden from the token in env:FORGE_TOKEN" in line
    assert ["main"] == command.branches


@pytest.mark.parametrize("way", WAYS)
def test_an_archived_repository(command, way):
    """Nobody can propose anything there."""
    command.repository.is_archived = True
    assert "archived" in command.refused(WAYS[way][0])
    assert ["main"] == command.branches


def test_issues_that_are_switched_off(command):
    """410: the forge's own words say it."""
    command.repository.has_issues = False
    assert "Issues has been disabled in this repository" in command.refused("--issue")


def test_only_a_fork_is_possible(command):
    """It says what a fork's checks are worth, and the two ways out; nothing is pushed."""
    command.github.accounts["good-token"] = Account(login="bot", may_write=False)
    line = command.refused("--pull-request")
    assert line.startswith(
        "the token may not push to acme/images, so only a pull request from a fork would be possible"
    )
    assert line.endswith("give the token the right to push, or use --issue")
    assert ["main"] == command.branches


# --- git refuses, or the branch is there ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("GH006: Protected branch update failed", "the branch is protected; let the account that pushes create it"),
        ("GH013: Repository rule violations found", "the branch is protected; let the account that pushes create it"),
        ("Permission to acme/images.git denied to bot.", "whoever pushes may not; give the account the right to write"),
        ("This repository was archived so it is read-only.", "the repository is archived, and so only read"),
    ],
)
def test_a_push_that_is_refused(command, words, told):
    """By what the forge says below git: each has its own advice."""
    hook = command.stage.path / "hooks/pre-receive"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\necho 'error: {words}' >&2\nexit 1\n")
    hook.chmod(0o755)
    line = command.refused("--pull-request")
    assert line.startswith(f"cannot push {command.stage.branch} to images: {told}")
    assert ["main"] == command.branches


def test_git_takes_no_push(command):
    """Though the API says that the token may."""
    command.stage.git("config", "http.receivepack", "false")
    line = command.refused("--pull-request")
    assert line.startswith(f"cannot push {command.stage.branch} to images: whoever pushes may not; give the account")


def test_a_pull_request_of_somebody_else_for_the_branch(command):
    """422: there is one already; ours has a mark, which this one lacks."""
    command.bump("--pull-request")
    [ticket] = command.repository.tickets
    ticket.body = "Mine now"
    code, _, said = command.bump("--pull-request")
    assert 3 == code
    assert said.startswith("watcher: cannot open pull requests in acme/images: there is one already")
    assert "Mine now" == ticket.body


def test_a_branch_that_is_there_already(command):
    """With the very commit of ours it is taken up: the run before was killed in between."""
    command.github.fault(502, method="POST")
    assert 3 == command.bump("--pull-request")[0]
    tip = command.stage.git("rev-parse", command.stage.branch)
    command.github.faults.clear()
    assert f"opened pull request 1 with {tip[:12]}: " in command.bump("--pull-request")[1]


def test_a_branch_of_ours_is_moved(command):
    """Where the default branch went on since the run before: it is one commit on top of that."""
    command.github.fault(502, method="POST")
    command.bump("--pull-request")
    command.github.faults.clear()
    command.commit("main", "Go on")
    assert 0 == command.bump("--pull-request")[0]
    assert command.stage.git("rev-parse", "main") == command.stage.git("rev-parse", f"{command.stage.branch}^")


@pytest.mark.parametrize("words", [[], ["--amend"]])
def test_a_branch_with_somebody_elses_commits(command, words):
    """Whether they came on top of ours or in place of it: nobody's work is overwritten."""
    command.bump("--pull-request")
    command.repository.tickets[0].body = "Mine now"
    theirs = command.commit(command.stage.branch, "Adapt to the new engine", *words)
    code, _, said = command.bump("--pull-request")
    assert (3, theirs) == (code, command.stage.git("rev-parse", command.stage.branch))
    assert f"{command.stage.branch} is there in images, with somebody else's commits" in said


def test_a_default_branch_that_was_renamed_meanwhile(command):
    """The pull request is for the branch that is the default now."""
    command.stage.git("branch", "-m", "main", "trunk")
    command.stage.git("symbolic-ref", "HEAD", "refs/heads/trunk")
    command.repository.default_branch = "trunk"
    assert 0 == command.bump("--pull-request")[0]
    assert ["trunk"] == [it.base for it in command.repository.tickets]


def test_a_branch_that_was_renamed_while_it_was_pushed(command):
    """The forge has another default branch by then, and is asked again for that."""
    document = command.stage.document()
    document["downstreams"][0]["branch"] = "main"
    command.configure(downstreams=document["downstreams"])
    command.github.fault(502, method="POST")
    command.bump("--pull-request")
    command.github.faults.clear()
    tips = {"trunk": "a1" * 20, command.stage.branch: command.stage.git("rev-parse", command.stage.branch)}
    command.repository.bare, command.repository.default_branch, command.repository.tips = None, "trunk", tips
    line = command.refused("--pull-request")
    assert "there is no branch main to bring a pull request to; its default branch is now trunk" in line
