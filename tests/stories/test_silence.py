"""Servers that refuse, stutter, vanish, move and are replaced: what is told, and what is not told yet."""

import pytest

from tests.stories import kit
from tests.stories.world import (
    Strike,
    clean_up,
    finding,
    is_fetch,
    is_second_question,
    kinds,
    name_of,
    offered,
    reach,
    reasons,
    the,
    told,
)
from watcher.demo.server import Cut, OldProtocol, Page, Raw, Redirect, Status
from watcher.findings import acknowledge

PICTURE = "A---B---F   (main)"


def faults(upstream):
    """Return the ways in which a server fails to say which refs it has."""
    return {
        "403": Status(code=403),
        "401": Status(code=401),
        "429": Status(code=429, headers={"Retry-After": "1"}),
        "429 for an hour": Status(code=429, headers={"Retry-After": "3600"}),
        "500": Status(code=500),
        "502": Status(code=502, body="<html>Bad gateway</html>"),
        "503": Status(code=503),
        "empty reply": Raw(body=b""),
        "login page": Page(),
        "cut reply, said so": Cut(length=70),
        "cut reply, connection broken": Cut(length=70, honest=False),
        "cut to nothing": Cut(length=0),
        "redirect to a closed port": Redirect(to="http://127.0.0.1:1/login", code=302),
        "redirect in a circle": Redirect(to=upstream.url, code=302),
    }


@pytest.fixture
def lost_and_buggy(world):
    """Offer a world with two findings of one upstream: a pin that is lost, and one that lacks a fix."""
    picture = """
          X        (topic)
         /
    A---B          (main)
    """
    oids = world.engine.draw(picture, **kit.STORY)
    world.pin(cuda=oids["B"], rocm=oids["X"])
    world.look()
    world.engine.draw(PICTURE, **kit.STORY)
    assert ["fix-available", "pin-unreachable"] == kinds(world.look())
    return world


def test_trouble_opens_and_resolves_nothing(lost_and_buggy):
    """Neither an alarm nor an all-clear: what was known stays as it was, and each upstream is named once."""
    world = lost_and_buggy
    for name, fault in faults(world.engine).items():
        world.engine.fault(fault)
        found = world.look(hours=0.1)
        assert [name_of()] == [failure.upstream for failure in found.unobserved], name
        assert "unknown" == reach(found).cls == reach(found, "rocm").cls, name
        assert [] == told(found), name
        assert ["fix-available", "pin-unreachable"] == kinds(found), name
    world.engine.fault(None)
    found = world.look()
    assert () == found.unobserved
    assert [] == told(found)


def test_trouble_at_the_first_look_says_nothing(world):
    """An upstream that was never seen is unobserved: no finding, whatever goes wrong."""
    oids = world.engine.draw(PICTURE, **kit.STORY)
    world.pin(cuda=oids["B"])
    for name, fault in faults(world.engine).items():
        world.engine.fault(fault)
        found = world.look(hours=0.1)
        assert "unknown" == reach(found).cls, name
        assert [] == kinds(found), name
        assert 1 == len(found.unobserved), name


def test_every_cut_of_the_reply_is_noticed(lost_and_buggy):
    """Wherever the list of refs ends too early, even between two of them: never "there are no other refs"."""
    world = lost_and_buggy
    tags = [f"T{number}   (tag: t{number})" for number in range(3)]
    world.engine.draw("\n".join([PICTURE, *tags]), **kit.STORY)
    names = ["HEAD symref-target:refs/heads/main", "refs/heads/main", "refs/tags/t0", "refs/tags/t1", "refs/tags/t2"]
    packets = [len(f"0000{'0' * 40} {name}\n") for name in names]
    ends = [sum(packets[:count]) for count in range(1, 6)]
    for length in (*ends, ends[-1] + 3):
        world.engine.fault(Cut(length=length))
        found = world.look(hours=0.1)
        assert 1 == len(found.unobserved), length
        assert [] == told(found), length
    world.engine.fault(Cut(length=ends[-1] + 4))
    assert ["git fetch"] == [reason.partition(":")[0] for reason in reasons(world.look())], "the refs were whole"


def test_trouble_between_refs_and_history(lost_and_buggy):
    """The refs came, the commits did not: half a look is no look."""
    world = lost_and_buggy
    world.engine.draw("A---B---F---G   (main)", **kit.STORY)
    for fault in (Status(code=503), Status(code=403), Cut(length=100), Cut(length=100, honest=False)):
        world.server.faults = Strike(world.server, "acme/engine", fault, when=is_fetch)
        found = world.look(hours=0.1)
        assert 1 == len(found.unobserved), fault
        assert [] == told(found), fault
    world.server.faults = {}
    assert [] == told(world.look())


def test_trouble_between_refs_and_proposals(world):
    """Branches were told, the refs of proposals were not: that a pin is on none of them is not known."""
    oids = world.engine.draw("A---B   (main)\n \\\n  X     (refs/pull/7/head)")
    world.pin(cuda=oids["X"])
    assert ["pin-on-pull-only"] == kinds(world.look())
    for fault in (Status(code=503), Status(code=429), Page(), Raw(body=b"")):
        world.server.faults = Strike(world.server, "acme/engine", fault, when=is_second_question)
        found = world.look(hours=0.1)
        assert [] == told(found), fault
        assert ["pin-on-pull-only"] == kinds(found), fault
    world.server.faults = {}
    assert [] == told(world.look())


def test_one_upstream_in_trouble_does_not_hide_another(world):
    """The others are judged as ever."""
    oids = world.engine.draw(PICTURE, **kit.STORY)
    other = world.upstream("acme/other")
    other.draw("K---L   (main)")
    world.pin(cuda=oids["B"])
    world.pin("acme/other", cuda=other.oids["K"])
    other.fault(Status(code=503))
    found = world.look()
    assert ["fix-available"] == kinds(found)
    assert [name_of("acme/other")] == [failure.upstream for failure in found.unobserved]
    assert "default" == reach(found).cls
    assert "unknown" == reach(found, upstream="acme/other").cls


def test_trouble_that_passes_within_the_look_is_no_trouble(world):
    """A server that answers 503 once and then behaves was observed."""
    oids = world.engine.draw(PICTURE, **kit.STORY)
    world.pin(cuda=oids["B"])
    world.engine.fault(Status(code=503, times=1))
    assert () == world.look().unobserved


def test_old_protocol_is_read_as_well(world):
    """A server that never heard of version 2 is observed all the same, with annotated tags peeled."""
    oids = world.engine.draw("A---B---F   (main, tag: v1.0**)", **kit.STORY)
    world.pin(cuda=oids["B"], rocm="v1.0")
    world.engine.fault(OldProtocol())
    found = world.look()
    assert () == found.unobserved
    assert oids["F"] == offered(found)
    assert "default" == reach(found, "rocm").cls


def test_upstream_that_moves_on_while_we_look(lost_and_buggy):
    """Between the list of refs and the fetch the branch is forced and cleaned up: no alarm, it is asked once more."""
    world = lost_and_buggy

    def force():
        world.engine.draw("A---B---F---H   (main)", **kit.STORY)
        clean_up(world.engine)

    world.engine.draw("A---B---F---G   (main)", **kit.STORY)
    world.server.faults = Strike(world.server, "acme/engine", force, when=is_fetch)
    found = world.look()
    assert [] == told(found)
    assert ["fix-available", "pin-unreachable"] == kinds(found)
    assert () == found.unobserved


# --- 404 ---------------------------------------------------------------------------------------------------------


def test_404_is_told_only_when_it_lasts(world):
    """`upstream-gone` needs three tries over six hours; then it is critical, and says since when."""
    oids = world.engine.draw(PICTURE)
    world.pin(cuda=oids["B"])
    world.look()
    world.engine.fault(Status(code=404, body="Repository not found."))
    first = world.look()
    since = world.now
    assert [] == told(first)
    assert [True] == [failure.missing for failure in first.unobserved]
    assert [] == told(world.look(hours=2))
    assert [] == told(world.look(hours=2)), "three tries, but only four hours"
    found = world.look(hours=2)
    assert [("opened", "upstream-gone")] == told(found)
    concern = the(found, "upstream-gone")
    assert "critical" == concern.severity
    assert since == concern.since
    assert f"{since:%Y-%m-%d %H:%M} UTC" in concern.headline
    assert [] == told(world.look(hours=2)), "once"


def test_404_needs_tries_too(world):
    """Six hours with two tries are not enough: a machine that slept saw nothing."""
    world.pin(cuda="1" * 40)
    for hours in (1, 20):
        assert [] == told(world.look(hours=hours))
    assert [("opened", "upstream-gone")] == told(world.look())


def test_gone_upstream_that_is_back_resolves(world):
    """Nobody has to close it, and the count begins anew."""
    oids = world.engine.draw(PICTURE)
    world.pin(cuda=oids["B"])
    world.look()
    world.engine.fault(Status(code=404))
    for _ in range(4):
        world.look(hours=3)
    world.engine.fault(None)
    found = world.look()
    assert [("resolved", "upstream-gone")] == told(found)
    assert "default" == reach(found).cls
    world.engine.fault(Status(code=404))
    assert [] == told(world.look(hours=12)), "one try since it was back"


def test_other_trouble_between_404s_neither_adds_nor_resolves(world):
    """A 503 in a row of 404s does not count as one, and a 503 afterwards does not end the finding."""
    world.pin(cuda="1" * 40)
    for code in (404, 503, 404, 503):
        world.engine.fault(Status(code=code))
        assert [] == told(world.look(hours=4))
    world.engine.fault(Status(code=404))
    assert [("opened", "upstream-gone")] == told(world.look(hours=4))
    world.engine.fault(Status(code=503))
    assert [] == told(world.look(hours=4))


def test_patience_is_configurable(world):
    """`patience: {gone: {tries: 1, over: 1s}}` tells at the second look."""
    world.pin(cuda="1" * 40)
    world.config = {"patience": {"gone": {"tries": 1, "over": "1s"}}}
    world.look()
    assert [("opened", "upstream-gone")] == told(world.look())


def test_long_silence_is_told_as_what_it_is(world):
    """Six tries over a day without an answer are `upstream-unobserved`, medium; it never becomes upstream-gone."""
    oids = world.engine.draw(PICTURE)
    world.pin(cuda=oids["B"])
    world.look()
    world.engine.fault(Status(code=503))
    for _ in range(6):
        assert [] == told(world.look(hours=4.5))
    found = world.look(hours=4.5)
    assert [("opened", "upstream-unobserved")] == told(found)
    assert "medium" == the(found, "upstream-unobserved").severity
    assert ["upstream-unobserved"] == kinds(world.look(hours=100))
    world.engine.fault(None)
    assert [("resolved", "upstream-unobserved")] == told(world.look())


def test_gone_upstream_keeps_what_was_known_of_its_pins(lost_and_buggy):
    """Open findings of its pins stay open beside `upstream-gone`: nothing was observed that ends them."""
    world = lost_and_buggy
    world.engine.fault(Status(code=404))
    for _ in range(4):
        found = world.look(hours=3)
    assert ["fix-available", "pin-unreachable", "upstream-gone"] == kinds(found)


# --- moved, replaced ---------------------------------------------------------------------------------------------


def test_redirect_is_told_and_followed(world):
    """`upstream-moved`, medium, with the new address; the pins are judged behind it; gone when it stops."""
    home = world.upstream("newhome/engine")
    oids = home.draw(PICTURE, **kit.STORY)
    world.pin(cuda=oids["B"])
    world.engine.fault(Redirect(to=home.url))
    found = world.look()
    concern = the(found, "upstream-moved")
    assert "medium" == concern.severity
    assert "newhome/engine" in concern.headline
    assert oids["F"] == offered(found)
    assert "default" == reach(found).cls
    assert [] == told(world.look())
    world.engine.draw(PICTURE, **kit.STORY)
    world.engine.fault(None)
    assert [("resolved", "upstream-moved")] == told(world.look())


def test_new_address_is_told_as_people_write_it(world):
    """A mirror that `rewrites` names is no address for manifests: the message gives the public one."""
    home = world.upstream("newhome/engine")
    oids = home.draw(PICTURE)
    world.pin(cuda=oids["B"])
    world.engine.fault(Redirect(to=home.url))
    concern = the(world.look(), "upstream-moved")
    assert name_of("newhome/engine") in concern.advice


def test_temporary_redirect_is_no_move(world):
    """A 302 says nothing of tomorrow."""
    home = world.upstream("newhome/engine")
    oids = home.draw(PICTURE)
    world.pin(cuda=oids["B"])
    world.engine.fault(Redirect(to=home.url, code=302))
    found = world.look()
    assert [] == kinds(found)
    assert "default" == reach(found).cls


def test_another_repository_under_the_old_name(world):
    """No commit in common: `upstream-replaced`, critical, at once, and again at every look until it is over."""
    oids = world.engine.draw(PICTURE, **kit.STORY)
    world.pin(cuda=oids["F"])
    world.look()
    world.engine.draw("P---Q---R   (main)")
    clean_up(world.engine)
    found = world.look()
    assert "critical" == the(found, "upstream-replaced").severity
    assert "pin-unreachable" in kinds(found)
    found = world.look()
    assert [] == told(found)
    assert "upstream-replaced" in kinds(found)
    world.engine.draw(PICTURE, **kit.STORY)
    assert ("resolved", "upstream-replaced") in told(world.look())


def test_replacement_offers_no_bump(world):
    """What the stranger's history says of fixes is not offered to pins of the one that was there before."""
    oids = world.engine.draw("A---B   (main)", **kit.STORY)
    world.pin(cuda=oids["B"])
    world.look()
    world.engine.draw("P---F   (main)", files={"P": kit.FILES["A"], "F": kit.FILES["F"]}, messages=kit.MESSAGES)
    found = world.look()
    assert "upstream-replaced" in kinds(found)
    assert () == found.suggestions


def test_another_default_branch_is_no_other_repository(world):
    """HEAD now names a branch of its own root (pages, a rewrite); the old branch is there: not replaced."""
    picture = "A---B   (main)\nP---Q   (pages)"
    oids = world.engine.draw(picture)
    world.pin(cuda=oids["B"])
    world.look()
    world.engine.draw(picture, head="pages")
    found = world.look()
    assert "upstream-replaced" not in kinds(found)
    assert "branch" == reach(found).cls


def test_acknowledged_gone_upstream_stays_quiet(world):
    """Somebody took note: it does not come back at every look."""
    world.pin(cuda="1" * 40)
    for _ in range(4):
        found = world.look(hours=3)
    world.act(finding(found, "upstream-gone"), acknowledge, world.now)
    found = world.look(hours=3)
    assert [] == told(found)
    assert not finding(found, "upstream-gone").is_live


# --- our own repository ------------------------------------------------------------------------------------------


@pytest.fixture
def served(world):
    """Offer a world whose downstream is a repository on the server, with a pin that lacks a fix."""
    images = world.downstream("images", served=True)
    oids = world.engine.draw(PICTURE, **kit.STORY)
    images.pin("acme/engine", cuda=oids["B"], rocm=oids["F"])
    return world


def test_unobserved_downstream_neither_opens_nor_resolves(served):
    """Its pins are not seen, so they are not gone: findings of pins and drift stay, and it is named once."""
    before = kinds(served.look())
    assert ["fix-available", "variant-drift"] == before
    served.server.faults["acme/images"] = Status(code=503)
    found = served.look()
    assert ["the server answered 503"] == reasons(found)
    assert [] == told(found)
    assert before == kinds(found)
    del served.server.faults["acme/images"]
    assert [] == told(served.look())


def test_unobserved_downstream_keeps_findings_of_whole_upstreams(served):
    """That nobody reads the manifest today does not bring a vanished or moved upstream back."""
    home = served.upstream("newhome/engine")
    home.draw(PICTURE, **kit.STORY)
    served.engine.fault(Redirect(to=home.url))
    assert "upstream-moved" in kinds(served.look())
    served.server.faults["acme/images"] = Status(code=503)
    found = served.look()
    assert [] == told(found)
    assert "upstream-moved" in kinds(found)


def test_drift_between_two_downstreams_outlives_the_silence_of_one(world):
    """CUDA and ROCm live in two repositories; while one cannot be read, the drift is neither over nor new."""
    oids = world.engine.draw(PICTURE, **kit.STORY)
    world.downstream("cuda-images").pin("acme/engine", cuda=oids["B"])
    world.downstream("rocm-images", served=True).pin("acme/engine", rocm=oids["F"])
    assert "variant-drift" in kinds(world.look())
    world.server.faults["acme/rocm-images"] = Status(code=503)
    found = world.look()
    assert [] == told(found)
    assert "variant-drift" in kinds(found)


def test_downstream_that_is_unobserved_at_first_has_its_baseline_later(served):
    """The first pass that reads it is the baseline, not the first that tried."""
    served.server.faults["acme/images"] = Status(code=503)
    assert [] == told(served.look())
    del served.server.faults["acme/images"]
    found = served.look()
    assert found.is_first
    assert all(event.is_baseline for event in found.events)
    assert found.events
