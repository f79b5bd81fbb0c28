"""A click on “Open pull request”: taken up once, done by the service, told in the thread whatever becomes of it."""

import signal
import threading
from dataclasses import replace
from datetime import timedelta

import pytest

from tests.forges.forgefake import Account, Fault, Told
from tests.slackpeer import APP_TOKEN, HOOKS, TOKEN, SlackPeer, shown
from tests.stories import kit
from tests.stories.stage import GITHUB
from tests.stories.test_propose import NOW, Faked
from tests.stories.test_service import LONG, service, until
from watcher import cycle, policy, wishes
from watcher.bumping import bump_plans
from watcher.config import BumpWay
from watcher.errors import UsageError
from watcher.model import Kind
from watcher.proposing import Outcome, propose_pulls
from watcher.store import Store

SLACK = {"slack": {"channel": "C1", "token": "env:TOKEN", "app_token": "env:APP_TOKEN"}}
PULL, ISSUE = BumpWay.PULL_REQUEST, BumpWay.ISSUE


class Asking:
    """A stage after one pass, and what people ask for there."""

    def __init__(self, stage, store):
        self.stage, self.store = stage, store
        self.settings = stage.settings(**SLACK)
        cycle.check(self.settings, store, now=NOW)
        found = [it for it in store.findings() if it.concern.kind is Kind.FIX_AVAILABLE]
        self.finding, self.other = sorted(found, key=lambda it: it.concern.place)
        store.record_post(self.finding.key, "slack", "C1 1.0")
        self.now = NOW

    def ask(self, way=PULL, *, finding=None, by="dana (U1)"):
        """Click, a minute later; return what the person is told."""
        self.now += timedelta(minutes=1)
        return wishes.ask(self.store, self.settings, (finding or self.finding).handle, way, self.now, by=by)

    def grant(self):
        """Do what is asked for, and return what the threads are told by it, line by line."""
        before = len(self.store.outbox())
        for wish in wishes.waiting(self.store):
            wishes.grant(self.settings, self.store, wish, self.now)
        assert () == wishes.waiting(self.store)
        return [[words for words, _ in it.payload["said"]] for it in self.store.outbox()[before:]]

    def answer(self, way=PULL):
        """Click, and return the first line of what becomes of it."""
        self.ask(way)
        [[said, *_]] = self.grant()
        return said


@pytest.fixture
def stage(world, asking, monkeypatch):
    """Set the stage, with a token that may push."""
    monkeypatch.setenv("FORGE_TOKEN", "good-token")
    return Faked(world, asking)


@pytest.fixture
def clicks(stage):
    """Offer the way to ask for things there."""
    with Store.open(stage.world.state) as store:
        yield Asking(stage, store)


def test_a_wish_is_granted_and_told(clicks):
    """One pull request for both variants, with its link, and who asked; the next time nothing is done anew."""
    assert "Taken up: this message's thread will say what became of the pull request." == clicks.ask()
    [[said, by]] = clicks.grant()
    [ticket] = clicks.stage.repository.tickets
    assert f"watcher/bump-engine-{clicks.stage.oids['F'][:12]}" == ticket.head
    assert said.startswith("opened pull request 1 with ")
    assert "asked for by dana" == by
    [owed] = [it for it in clicks.store.outbox() if "reply" in it.payload]
    assert f"{GITHUB}/pull/1" == owed.payload["said"][0][1]
    assert ("slack", clicks.finding.key) == (owed.channel, owed.payload["reply"])
    assert [] == clicks.grant()


def test_an_issue_where_the_button_says_so(clicks):
    """What was clicked counts, whatever the configuration says meanwhile."""
    assert clicks.answer(ISSUE).startswith("opened issue 1: Bump engine to ")
    assert None is clicks.stage.repository.tickets[0].head


def test_asked_twice_before_it_is_done(clicks):
    """One wish, of whoever was first; the second one is told so."""
    clicks.ask()
    assert "dana asked for it already: the pull request is on its way." == clicks.ask(by="lee (U2)")
    [[_, by]] = clicks.grant()
    assert "asked for by dana" == by


def test_asked_for_both_variants(clicks):
    """The alerts of two pins that move together lead to one pull request, and each thread has its link."""
    clicks.ask()
    clicks.ask(finding=clicks.other, by="lee (U2)")
    (first, dana), (second, lee) = clicks.grant()
    assert first.startswith("opened pull request 1 ")
    assert "pull request 1 says it already" == second
    assert ("asked for by dana", "asked for by lee") == (dana, lee)
    assert 1 == len(clicks.stage.repository.tickets)


def test_what_the_service_proposed_is_there_already(clicks):
    """A click, and the policy of the configuration, mean the same pull request; in whatever order."""
    by_policy = clicks.stage.settings(bumps="pull-request")
    [upstream] = policy.wanted(by_policy, clicks.store, NOW)
    policy.propose(by_policy, clicks.store, upstream, NOW)
    assert "pull request 1 says it already" == clicks.answer()
    [done], troubles = policy.propose(by_policy, clicks.store, upstream, NOW)
    assert (Outcome.UNCHANGED, ()) == (done.outcome, troubles)


def test_a_person_may_have_more_open_than_the_policy(clicks):
    """`at_most` is for what the service does of itself."""
    clicks.settings = clicks.stage.settings(**SLACK, bumps={"high": "issue", "at_most": 1})
    marker = "<!-- watcher: bump 0123456789abcdef " + "a" * 40 + " -->"
    clicks.stage.repository.add(title="other", body=marker)
    assert clicks.answer(ISSUE).startswith("opened issue 2")


@pytest.mark.parametrize(
    ("state", "words"),
    [
        (
            {"state": "closed", "closed_by": "dana"},
            "was closed by a person: it is not opened again for this target; re",
        ),
        ({"state": "closed", "merged_as": "c" * 40}, "pull request 1 is merged already"),
        ({"title": "Bump"}, "updated pull request 1"),
    ],
)
def test_what_became_of_an_earlier_one_is_told(clicks, state, words):
    """Closed by a person stays closed, and the way on is named."""
    clicks.answer()
    for name, value in state.items():
        setattr(clicks.stage.repository.tickets[0], name, value)
    assert words in clicks.answer()
    assert 1 == len(clicks.stage.repository.tickets)


def test_a_newer_target_takes_the_place_of_the_old_one(clicks):
    """The thread leads to the old one too."""
    clicks.stage.propose(propose_pulls, clicks.stage.oids["C"])
    clicks.ask()
    [[opened, replaced, _]] = clicks.grant()
    assert opened.startswith("opened pull request 2 ")
    assert "it takes the place of the one for another target" == replaced


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (
            lambda fake: fake.accounts.update({"good-token": Account(login="bot", may_write=False)}),
            "may not push to acme",
        ),
        (lambda fake: setattr(fake.repository, "is_archived", True), "acme/images is archived"),
        (lambda fake: fake.accounts.clear(), "the token in env:FORGE_TOKEN"),
        (
            lambda fake: fake.faults.append(Fault(told=Told(status=503))),
            "github.com has trouble (503): try again later",
        ),
    ],
)
def test_a_refusal_is_told_with_a_way_on(clicks, make, words):
    """In one line of the thread, without the token; the next click is another try."""
    make(clicks.stage.github.fake)
    said = clicks.answer()
    assert said.startswith("no pull request for engine: ")
    assert words in said
    assert "good-token" not in said
    assert [] == clicks.stage.repository.tickets


def test_an_upstream_that_cannot_be_looked_at(clicks):
    """Nothing is proposed from what was seen before."""
    clicks.ask()
    clicks.stage.world.engine.path.rename(clicks.stage.world.folder / "away")
    [[said, _]] = clicks.grant()
    assert said.startswith("no pull request for engine: no bump of engine can be planned now")


def test_a_pin_that_was_moved_meanwhile(clicks):
    """There is nothing to bump any more, and why."""
    clicks.ask()
    clicks.stage.images.pin("acme/engine", cuda=clicks.stage.oids["F"], rocm=clicks.stage.oids["F"])
    clicks.stage.images.publish()
    [[cuda, rocm, _]] = clicks.grant()
    assert "nothing to bump: docker/Dockerfile.cuda:2 nothing to gain: no fix found that concerns it" == cuda
    assert "docker/Dockerfile.rocm:2" in rocm


def test_a_downstream_elsewhere(clicks):
    """What was done is told beside what could not be."""
    folder = clicks.stage.world.downstream("folder")
    folder.pin("acme/engine", xpu=clicks.stage.oids["B"])
    folder.publish()
    clicks.settings = clicks.stage.settings(**SLACK)
    clicks.ask()
    [[opened, refused, _]] = clicks.grant()
    assert opened.startswith("opened pull request 1 ")
    assert "no pull request for engine: folder is a folder: --write changes it" in refused


def test_a_drift_is_levelled(stage):
    """The alert that one variant lacks what the other has leads to the bump of that variant alone."""
    stage.images.pin("acme/engine", cuda=stage.oids["F"])
    stage.images.publish()
    settings = stage.settings(**SLACK)
    with Store.open(stage.world.state) as store:
        cycle.check(settings, store, now=NOW)
        [drift] = [it for it in store.findings() if it.concern.kind is Kind.VARIANT_DRIFT]
        wishes.ask(store, settings, drift.handle, PULL, NOW, by="dana (U1)")
        [wish] = wishes.waiting(store)
        [(said, url)] = wishes.grant(settings, store, wish, NOW)
    assert said.startswith("opened pull request 1 ")
    assert f"{GITHUB}/pull/1" == url
    assert ["docker/Dockerfile.rocm"] == stage.git("diff", "--name-only", "main", stage.branch).split()


def test_what_is_over_is_not_proposed(clicks):
    """Somebody repaired it, or said that it is no fix, while the message stood there."""
    with clicks.store.atomic():
        over = replace(clicks.finding, state="resolved")
        clicks.store.commit_pass([over], (), (), NOW)
    with pytest.raises(UsageError, match="No pull request was opened: the finding is over"):
        clicks.ask()
    assert () == wishes.waiting(clicks.store)


def test_what_can_no_longer_be_proposed_is_refused_at_once(clicks):
    """The token was taken out of the configuration: the person hears what is left."""
    clicks.settings = clicks.stage.settings(**SLACK, forges={"github.com": {}})
    with pytest.raises(UsageError, match=f"`watcher bump {clicks.finding.handle}` shows what can be done"):
        clicks.ask()
    assert () == wishes.waiting(clicks.store)


def test_a_wish_that_never_comes_to_an_end(clicks, monkeypatch):
    """Three times at most: a defect of ours, or a machine that dies of it, is told and does not go on for ever."""
    clicks.ask()
    monkeypatch.setattr(wishes, "bump_plans", lambda *_, **__: {}["a defect"])
    for tries in range(3):
        [wish] = wishes.waiting(clicks.store)
        assert tries == wish.tries
        with pytest.raises(KeyError):
            wishes.grant(clicks.settings, clicks.store, wish, NOW)
    [[said, _]] = clicks.grant()
    assert said.startswith("no pull request: it was begun 3 times and never came to an end; `watcher bump ")


def test_the_command_of_an_alert_means_the_same(clicks):
    """Whoever has no button types the finding's handle: the same pins go to the same commit, in the same words."""
    plan = lambda name: bump_plans(clicks.settings, clicks.store, name, together=True, now=NOW)  # noqa: E731 - short
    by_name = plan("engine")
    assert by_name == plan(clicks.finding.handle) == plan(clicks.other.handle)
    assert ["cuda", "rocm"] == [step.pin.variant for step in by_name[0].steps]


def test_where_nothing_was_posted_the_channel_is_told(clicks):
    """Somebody deleted the message that was clicked, or it was never noted."""
    clicks.store.record_post(clicks.finding.key, "slack", None)
    clicks.ask()
    assert 1 == len(clicks.grant())


# --- the whole way ---------------------------------------------------------------------------------------------------


@pytest.fixture
def slack(monkeypatch):
    """Run a Slack."""
    monkeypatch.setenv("TOKEN", TOKEN)
    monkeypatch.setenv("APP_TOKEN", APP_TOKEN)
    with SlackPeer() as peer:
        yield peer


@pytest.fixture
def clickable(stage, slack):
    """Offer a world that a service looks at each second, whose alerts can be proposed to a GitHub."""
    world = stage.world
    world.config = stage.document(**SLACK, schedule={"poll": "1s"}, http={"listen": "127.0.0.1:0"})
    world.config["rewrites"] |= {"https://slack.com/": f"{slack.address}/", HOOKS: f"{slack.address}/"}
    world.engine.draw("A---B   (main)", **kit.STORY)
    world.look()
    world.engine.draw("A---B---F---C   (main)", **kit.STORY)
    return world


def alert(slack):
    """Return the message about the fix that the CUDA pin lacks, as it stands."""

    def found():
        return [it for it in slack.posted.values() if "pages are given back" in it["text"]]

    until(lambda: len(found()) > 1)
    return next(it for it in found() if "Dockerfile.cuda" in shown(it))


def thread(slack, message):
    """Return what stands in the thread of a message."""
    return [shown(it) for it in slack.posted.values() if message["ts"] == it.get("thread_ts")]


def test_one_click(clickable, stage, slack):
    """From the alert to a pull request: taken up, done, told with its link, and told again to who clicks again."""
    with service(clickable) as running:
        message = alert(slack)
        slack.click(message, "pull-request")
        assert slack.told.get(timeout=LONG)[1]["text"].startswith("Taken up: ")
        until(lambda: thread(slack, message))
        [said] = thread(slack, message)
        assert said.startswith("Opened pull request 1 with ")
        assert said.endswith("Asked for by dana\n")
        slack.click(message, "pull-request")
        until(lambda: len(thread(slack, message)) > 1)
        assert "Pull request 1 says it already\nAsked for by dana\n" == thread(slack, message)[1]
        assert 0 == running.stop()
    assert 1 == len(stage.repository.tickets)


class Gate:
    """A forge that stops before, or after, it does what it is asked to."""

    def __init__(self, fake, *, method, is_done):
        self.reached, self.goes_on = threading.Event(), threading.Event()
        answer = fake.answer

        def slow(asked):
            told = answer(asked) if is_done else None
            if asked.method == method:
                self.reached.set()
                self.goes_on.wait(LONG)
            return told or answer(asked)

        fake.answer = slow


@pytest.mark.parametrize(
    ("method", "is_done", "words"),
    [
        ("GET", False, "Opened pull request 1 with "),
        ("POST", True, "Pull request 1 says it already"),
    ],
)
def test_killed_between_click_and_deed(clickable, stage, slack, method, is_done, words):
    """What a person was told is taken up is done after the restart, once, and told."""
    gate = Gate(stage.github.fake, method=method, is_done=is_done)
    with service(clickable) as running:
        message = alert(slack)
        slack.click(message, "pull-request")
        assert slack.told.get(timeout=LONG)[1]["text"].startswith("Taken up: ")
        assert gate.reached.wait(LONG)
        running.stop(signal.SIGKILL)
    gate.goes_on.set()
    assert [] == thread(slack, message)
    clickable.downstreams.clear()  # they stay as they are, with the branch that was pushed
    with service(clickable) as running:
        until(lambda: thread(slack, message))
        assert 0 == running.stop()
    [said] = thread(slack, message)
    assert said.startswith(words)
    assert said.endswith("Asked for by dana\n")
    assert 1 == len(stage.repository.tickets)


def test_a_click_on_a_message_that_is_out_of_date(clickable, stage, slack):
    """What was repaired meanwhile is told to who clicked, and nothing is opened."""
    with service(clickable) as running:
        message = alert(slack)
        clickable.images.pin("acme/engine", cuda=stage.oids["F"], rocm=stage.oids["F"])
        clickable.images.publish()
        until(lambda: any("esolved" in it for it in thread(slack, message)))
        slack.click(message, "pull-request")
        assert "No pull request was opened: the finding is over." == slack.told.get(timeout=LONG)[1]["text"]
        assert 0 == running.stop()
    assert [] == stage.repository.tickets
