"""How findings live from pass to pass, and what a pass costs when nothing happened."""

import shutil
from datetime import timedelta

from tests.stories import kit
from tests.stories.world import (
    HOST,
    START,
    finding,
    findings_of,
    kinds,
    manifest,
    name_of,
    offered,
    pin_of,
    the,
    told,
)
from watcher.demo.server import Status
from watcher.findings import acknowledge, reopen, snooze
from watcher.store import Store

SLACK = {"slack": {"channel": "#images", "token": "env:SLACK_BOT_TOKEN"}}
TOPIC = """
      X        (topic)
     /
A---B---F      (main)
"""
NO_TOPIC = "A---B---F      (main)"


def owed(world):
    """Return what is owed to Slack, oldest first."""
    with Store.open(world.state) as store:
        return [message.payload for message in store.outbox()]


def test_the_first_run_is_a_baseline(world):
    """Everything that is wrong already is one summary message; only what is critical is told alone as well."""
    oids = world.engine.draw(TOPIC, **kit.STORY)
    world.config = SLACK
    world.pin(cuda=oids["B"], rocm=oids["X"])
    world.pin("acme/engine", cpu="main", xpu="1" * 40)
    found = world.look()
    assert found.is_first
    assert found.events
    assert all(event.is_baseline for event in found.events)
    alone = [message["finding"] for message in owed(world) if "finding" in message]
    [summary] = [message["baseline"] for message in owed(world) if "baseline" in message]
    assert [finding(found, "pin-absent").key] == alone
    assert {it.key for it in found.findings} == {*alone, *summary}


def test_a_clean_first_run_owes_nothing(world):
    """No findings, no message; the next finding is told alone."""
    world.config = SLACK
    oids = world.engine.draw("A---B   (main)", **kit.STORY)
    world.pin(cuda=oids["B"])
    world.look()
    assert [] == owed(world)
    world.engine.draw(NO_TOPIC, **kit.STORY)
    found = world.look()
    assert not found.is_first
    assert [{"finding": finding(found, "fix-available").key, "event": "opened"}] == owed(world)


def test_low_findings_wait_for_the_digest(world):
    """A floating pin that appears later is an event, but owes no alert."""
    world.config = SLACK
    oids = world.engine.draw("A---B   (main)")
    world.pin(cuda=oids["B"])
    world.look()
    world.pin(rocm="main")
    assert ("opened", "pin-floating") in told(world.look())
    assert [message for message in owed(world) if "pin-floating" in str(message)] == []


def test_an_identical_pass_says_nothing_and_costs_one_request(world):
    """No event, no message; each upstream is asked one question, and git fetches nothing."""
    world.config = SLACK
    oids = world.engine.draw(TOPIC, **kit.STORY)
    other = world.upstream("acme/other")
    other.draw("K---L   (main, tag: v1.0*)")
    world.pin(cuda=oids["B"], rocm=oids["X"])
    world.pin("acme/other", cuda="v1.0", rocm=other.oids["K"])
    first = world.look()
    messages = owed(world)
    world.server.requests.clear()
    found = world.look()
    assert [] == told(found)
    assert messages == owed(world)
    assert first.findings == found.findings
    assert first.suggestions == found.suggestions
    assert {"ls-refs": 1} == world.server.count("acme/engine")
    assert {"ls-refs": 1} == world.server.count("acme/other")


def test_an_upstream_of_many_pins_is_asked_once(world):
    """Two downstreams, three pins, the address written in two ways: one upstream, one request."""
    oids = world.engine.draw(NO_TOPIC, **kit.STORY)
    world.pin(cuda=oids["F"], rocm=oids["F"])
    world.downstream("training").pin("acme/engine", cuda=oids["F"])
    world.images.preface["cuda"] = f"RUN git clone https://GIT.example.org/acme/engine/ && git checkout {oids['F']}\n"
    assert {name_of()} == {pin.upstream for pin in world.look().pins}
    world.server.requests.clear()
    world.look()
    assert {"ls-refs": 1} == world.server.count()


def test_a_served_downstream_that_did_not_move_costs_no_fetch(world):
    """Its refs are asked for, its history is not fetched again."""
    oids = world.engine.draw(NO_TOPIC, **kit.STORY)
    world.downstream("images", served=True).pin("acme/engine", cuda=oids["B"])
    world.look()
    world.server.requests.clear()
    found = world.look()
    assert [] == told(found)
    assert 0 == world.server.count("acme/images")["fetch"]


def test_a_served_downstream_is_read_at_its_branch(world):
    """What the branch holds now counts: a bump that was pushed resolves."""
    oids = world.engine.draw(NO_TOPIC, **kit.STORY)
    images = world.downstream("images", served=True)
    images.pin("acme/engine", cuda=oids["B"])
    assert ["fix-available"] == kinds(world.look())
    images.pin("acme/engine", cuda=oids["F"])
    found = world.look()
    assert [("resolved", "fix-available")] == told(found)


def test_mirrors_are_disposable(world):
    """Somebody deletes them all: they are made anew, and nothing is told twice or taken back."""
    oids = world.engine.draw(TOPIC, **kit.STORY)
    world.pin(cuda=oids["B"], rocm=oids["X"])
    before = world.look()
    shutil.rmtree(world.state / "mirrors")
    found = world.look()
    assert [] == told(found)
    assert before.findings == found.findings


def test_findings_survive_moved_lines(world):
    """Somebody adds twenty lines above the pin: the same finding at another line, no event."""
    oids = world.engine.draw(NO_TOPIC, **kit.STORY)
    world.pin(cuda=oids["B"])
    before = world.look()
    assert f"{manifest('cuda')}:2" == the(before, "fix-available").place
    world.images.preface["cuda"] = "# line\n" * 20
    found = world.look()
    assert [] == told(found)
    assert [it.key for it in before.findings] == [it.key for it in found.findings]
    assert f"{manifest('cuda')}:22" == the(found, "fix-available").place
    assert 22 == pin_of(found).line


def test_a_pin_that_is_bumped_past_the_fix_resolves_it(world):
    """The next pass resolves it by itself, and says so once."""
    oids = world.engine.draw(NO_TOPIC, **kit.STORY)
    world.pin(cuda=oids["B"])
    world.look()
    world.pin(cuda=oids["F"])
    assert [("resolved", "fix-available")] == told(world.look())
    assert [] == told(world.look())


def test_a_pin_that_goes_back_reopens_it(world):
    """The bump is taken back: the same finding, reopened, not a new one."""
    oids = world.engine.draw(NO_TOPIC, **kit.STORY)
    world.pin(cuda=oids["B"])
    key = finding(world.look(), "fix-available").key
    world.pin(cuda=oids["F"])
    world.look()
    world.pin(cuda=oids["B"])
    found = world.look()
    assert [("reopened", "fix-available")] == told(found)
    assert key == finding(found, "fix-available").key


def test_a_removed_pin_resolves_its_findings(world):
    """What nobody ships concerns nobody; the other pins' findings stay."""
    oids = world.engine.draw(TOPIC, **kit.STORY)
    world.pin(cuda=oids["B"], rocm=oids["B"])
    assert ["fix-available", "fix-available"] == kinds(world.look())
    del world.images.pins["rocm", "acme/engine"]
    found = world.look()
    assert [("resolved", "fix-available")] == told(found)
    assert 1 == len(findings_of(found, "fix-available", "cuda"))


def test_a_removed_upstream_resolves_everything_about_it(world):
    """The last pin of an upstream goes: its findings end, and nobody asks the server any more."""
    oids = world.engine.draw(NO_TOPIC, **kit.STORY)
    world.pin(cuda=oids["B"])
    world.pin("acme/gone", cuda="1" * 40)
    for _ in range(4):
        found = world.look(hours=4)
    assert "upstream-gone" in kinds(found)
    del world.images.pins["cuda", "acme/gone"]
    world.server.requests.clear()
    assert [("resolved", "upstream-gone")] == told(world.look())
    assert not world.server.count("acme/gone")


def test_a_removed_pin_resolves_what_happened_to_its_tag(world):
    """A moved tag that no pin uses any more is nobody's trouble."""
    world.engine.draw("A---B---C   (main)", refs={"refs/tags/v1.0": "B"})
    world.pin(cuda="v1.0", rocm="main")
    world.look()
    world.engine.draw("A---B---C   (main, tag: v1.0)")
    assert ("opened", "tag-moved") in told(world.look())
    del world.images.pins["cuda", "acme/engine"]
    assert ("resolved", "tag-moved") in told(world.look())


# --- people act --------------------------------------------------------------------------------------------------


def test_acknowledged_findings_do_not_count(world):
    """It stays known and does not count; when it is over it resolves as any other."""
    oids = world.engine.draw(NO_TOPIC, **kit.STORY)
    world.pin(cuda=oids["B"])
    world.act(finding(world.look(), "fix-available"), acknowledge, world.now, "next release")
    found = world.look()
    assert [] == told(found)
    it = finding(found, "fix-available")
    assert ("acknowledged", "next release", False) == (it.state, it.note, it.is_live)
    world.pin(cuda=oids["F"])
    assert [("resolved", "fix-available")] == told(world.look())


def test_snoozed_findings_wake_by_the_clock(world):
    """Quiet for two days, then back once."""
    oids = world.engine.draw(NO_TOPIC, **kit.STORY)
    world.pin(cuda=oids["B"])
    world.act(finding(world.look(), "fix-available"), snooze, world.now + timedelta(days=2), world.now)
    assert not finding(world.look(hours=24), "fix-available").is_live
    found = world.look(hours=24)
    assert [("woke", "fix-available")] == told(found)
    assert finding(found, "fix-available").is_live
    assert [] == told(world.look())


def test_snoozed_findings_wake_though_the_upstream_is_silent(world):
    """Whoever asked to be reminded is reminded."""
    oids = world.engine.draw(NO_TOPIC, **kit.STORY)
    world.pin(cuda=oids["B"])
    world.act(finding(world.look(), "fix-available"), snooze, world.now + timedelta(days=2), world.now)
    world.engine.fault(Status(code=503))
    assert [("woke", "fix-available")] == told(world.look(hours=72))


def test_reopened_findings_count_again(world):
    """`reopen` undoes an acknowledgement."""
    oids = world.engine.draw(NO_TOPIC, **kit.STORY)
    world.pin(cuda=oids["B"])
    world.act(finding(world.look(), "fix-available"), acknowledge, world.now)
    world.act(finding(world.look(), "fix-available"), reopen, world.now)
    assert finding(world.look(), "fix-available").is_live


def test_an_acknowledged_finding_that_grows_more_severe_is_open_again(world):
    """A pull-only pin was acknowledged; then nothing holds it: that is told."""
    oids = world.engine.draw("A---B   (main)\n \\\n  X     (refs/pull/7/head)")
    world.pin(cuda=oids["X"])
    world.act(finding(world.look(), "pin-on-pull-only"), acknowledge, world.now)
    world.engine.draw("A---B   (main)")
    assert [("opened", "pin-unreachable"), ("resolved", "pin-on-pull-only")] == told(world.look())


def test_a_new_target_is_a_change(world):
    """Upstream rewrote the landing: the pin is offered the new one; a line that merely grows changes nothing."""
    oids = world.engine.draw("A---B---D---F   (main)", **kit.STORY)
    world.pin(cuda=oids["B"])
    assert oids["F"] == the(world.look(), "fix-available").target
    world.engine.draw("A---B---D---F---E   (main)", **kit.STORY)
    assert [] == told(world.look())
    oids = world.engine.draw("A---B---F---E   (main)", **kit.STORY)
    found = world.look()
    assert oids["F"] == the(found, "fix-available").target
    assert [("opened", "branch-rewound"), ("opened", "fix-available"), ("resolved", "fix-available")] == told(found)


# --- downstreams come and go -------------------------------------------------------------------------------------


def test_a_new_downstream_has_its_own_baseline(world):
    """What it brings is baseline; what was known of the others is not told again."""
    oids = world.engine.draw(NO_TOPIC, **kit.STORY)
    world.pin(cuda=oids["B"])
    world.look()
    world.downstream("training").pin("acme/engine", cuda=oids["A"])
    found = world.look()
    assert [("opened", "fix-available")] == told(found)
    [event] = found.events
    assert event.is_baseline
    assert event.finding.concern.pin.startswith("training:")


def test_a_new_downstream_does_not_hide_what_happens_to_the_others(world):
    """In the pass that first reads it, an old downstream loses a pin: that is an alert of its own, no baseline."""
    world.config = SLACK
    oids = world.engine.draw(TOPIC)
    world.pin(cuda=oids["X"])
    world.look()
    world.downstream("training").pin("acme/engine", rocm=oids["A"])
    world.engine.draw(NO_TOPIC)
    found = world.look()
    assert [("opened", "pin-unreachable")] == told(found)
    assert [False] == [event.is_baseline for event in found.events]
    assert [{"finding": finding(found, "pin-unreachable").key, "event": "opened"}] == owed(world)


def test_pins_of_the_configuration_itself(world):
    """`pins:` needs no downstream; a short id and digits that YAML could misread stay what they are."""
    oids = world.engine.draw(NO_TOPIC, **kit.STORY)
    world.config = {"pins": [{"upstream": f"{HOST}acme/engine", "ref": oids["B"][:9], "variant": "rocm"}]}
    found = world.look()
    assert ["fix-available"] == kinds(found)
    assert oids["F"] == offered(found, "rocm")
    assert found.is_first
    assert [] == told(world.look())


def test_a_downstream_without_pins_is_clean(world):
    """Nothing pinned, nothing asked, nothing said but that no file fits."""
    world.downstream("images")
    found = world.look()
    assert () == found.pins
    assert [] == kinds(found)
    assert () == found.unobserved


def test_time_is_the_tests(world):
    """Every time in a pass is the one that the pass was given."""
    oids = world.engine.draw(NO_TOPIC, **kit.STORY)
    world.pin(cuda=oids["B"])
    found = world.look(hours=5)
    assert START + timedelta(hours=5) == found.at == finding(found, "fix-available").opened_at
    found = world.look(hours=5)
    assert START + timedelta(hours=5) == finding(found, "fix-available").opened_at
