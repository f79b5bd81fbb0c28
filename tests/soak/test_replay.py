"""The script is the same for a seed and can be drawn; the replay says what a person would say."""

import pytest

from tests.soak.replay import Moment, Wrong, past, standing
from tests.soak.script import KEEP, MAIN, TAG, TOPIC, Pin, Redrawn, Upstream
from tests.soak.sketch import picture
from tests.soak.tale import Measure, write
from watcher.demo.drawing import read

MEASURE = Measure(upstreams=40, seconds=3600, events=12, kills=9)
PARENTS = {
    "a0": None,
    "c1": "a0",
    "f2": "c1",
    "c3": "f2",
    "r4": "a0",
    "f5": "r4",
    "t6": "c1",
    "s7": None,
}
CUDA, ROCM = "images:docker/Dockerfile.cuda:lib", "images:docker/Dockerfile.rocm:lib"


def made(**pins):
    """Return an upstream whose f2 and f5 repair the same part, with a pin for each variant."""
    mine = tuple(Pin(upstream="acme/lib", downstream="images", variant=it, ref=ref) for it, ref in pins.items())
    return Upstream(
        name="acme/lib", parents=PARENTS, repairs={"f2": "pool", "f5": "pool"}, refs={MAIN: "c1"}, pins=mine
    )


def wrongs(*parts):
    """Return what is wrong, sorted."""
    return sorted(Wrong(*part) for part in parts)


def test_a_seed_is_a_script():
    """The same one twice, another one for another seed."""
    assert write(3, MEASURE) == write(3, MEASURE)
    assert write(3, MEASURE) != write(4, MEASURE)


@pytest.mark.parametrize("seed", range(5))
def test_every_state_can_be_drawn(seed):
    """Read back, each picture has the parents that the script has."""
    script = write(seed, MEASURE)
    drawn = [it.happening for it in script.entries if isinstance(it.happening, Redrawn)]
    assert drawn
    for happening in drawn:
        parents = script.upstreams[happening.upstream].parents
        shown = read(picture(parents, happening.refs)).parents
        assert {name: (parents[name],) if parents[name] else () for name in shown} == shown


@pytest.mark.parametrize(
    ("pins", "refs", "expected"),
    [
        ({"cuda": "c1"}, {MAIN: "c1"}, []),
        ({"cuda": "c1"}, {MAIN: "c3"}, [("fix-available", CUDA, "pool")]),
        ({"cuda": "f2"}, {MAIN: "c3"}, []),
        ({"cuda": "c1"}, {MAIN: "r4"}, [("pin-unreachable", CUDA)]),
        ({"cuda": "c1"}, {MAIN: "f5"}, [("pin-unreachable", CUDA)]),
        ({"cuda": "c1"}, {MAIN: "f5", TOPIC: "c1"}, [("fix-available", CUDA, "pool")]),
        ({"cuda": "c1"}, {MAIN: "r4", KEEP: "c1"}, []),
        ({"cuda": "c1"}, {MAIN: "r4", KEEP: "c3"}, [("fix-available", CUDA, "pool")]),
        ({"cuda": "c1"}, {MAIN: "r4", TAG: "c1"}, []),
        ({"cuda": "c1"}, {MAIN: "r4", TAG: "f2"}, [("pin-on-tag-only", CUDA), ("fix-available", CUDA, "pool")]),
        ({"cuda": "c1"}, {MAIN: "c1", TOPIC: "f2"}, []),
        ({"cuda": TAG}, {MAIN: "c3"}, [("pin-absent", CUDA)]),
        ({"cuda": "c1"}, {MAIN: "s7"}, [("pin-unreachable", CUDA), ("upstream-replaced", "acme/lib")]),
        ({"cuda": "f2", "rocm": "c1"}, {MAIN: "c3"}, [("fix-available", ROCM, "pool"), ("variant-drift", "lib")]),
        ({"cuda": "c1", "rocm": MAIN}, {MAIN: "c1"}, [("pin-floating", ROCM), ("variant-drift", "lib")]),
    ],
)
def test_what_is_wrong_now(pins, refs, expected):
    """It follows from the refs and the pins alone."""
    upstream = made(**pins)
    assert wrongs(*expected) == sorted(standing(upstream, refs, upstream.pins).must)


@pytest.mark.parametrize(
    ("tips", "seen", "expected"),
    [
        (["c1", "c3"], [True, True], (0, 0)),
        (["c1", "r4"], [True, True], (1, 1)),
        (["c1", "r4", "c3"], [True, True, True], (2, 2)),
        (["c1", "r4", "c3"], [True, False, True], (0, 2)),
        (["c1", "r4", "c3"], [True, True, False], (1, 2)),
    ],
)
def test_how_often_main_was_forced(tips, seen, expected):
    """What nobody surely saw may have been seen."""
    moments = [Moment(refs={MAIN: tip}, pins=(), is_seen=it) for tip, it in zip(tips, seen, strict=True)]
    _, forced = past(made(), moments)
    assert expected == (forced.start, forced.stop - 1)


def test_a_tag_that_moved():
    """It is told of the pin that names it, though it was away in between."""
    upstream = made(cuda=TAG)
    refs = [{MAIN: "c3", TAG: "c1"}, {MAIN: "c3"}, {MAIN: "c3", TAG: "f2"}]
    moments = [Moment(refs=it, pins=upstream.pins, is_seen=True) for it in refs]
    expected, _ = past(upstream, moments)
    assert {Wrong("tag-moved", CUDA, "f2")} == expected.must
