"""What should a person know of where pins point and of what happened to an upstream?"""

from dataclasses import replace
from datetime import timedelta

import pytest

from tests.judge.picture import NOW, UPSTREAM, day, drawn, named, pin
from watcher.judge import concerns
from watcher.judge.concerns import SEVERITIES, is_withheld, of_failure, of_manifest, of_pin, of_refs, replaced_key
from watcher.model import Holding, Hosted, Kind, Move, Reachability, ReachabilityClass, RefKind, Severity
from watcher.observation import Position

TEXT = "A---B---C  (main, tag: v1)"
CRITICAL, HIGH, MEDIUM, LOW = Severity.CRITICAL, Severity.HIGH, Severity.MEDIUM, Severity.LOW


def test_default_severities():
    """Every kind has the severity of the design's table."""
    assert {
        CRITICAL: {Kind.PIN_ABSENT, Kind.UPSTREAM_GONE, Kind.UPSTREAM_REPLACED},
        HIGH: {Kind.PIN_UNREACHABLE},
        MEDIUM: {
            Kind.FIX_AVAILABLE,
            Kind.VARIANT_DRIFT,
            Kind.PIN_ON_PULL_ONLY,
            Kind.PIN_AMBIGUOUS,
            Kind.UPSTREAM_MOVED,
            Kind.UPSTREAM_UNOBSERVED,
        },
        LOW: {
            Kind.PIN_FLOATING,
            Kind.PIN_ON_TAG_ONLY,
            Kind.BRANCH_REWOUND,
            Kind.TAG_MOVED,
            Kind.UPSTREAM_ARCHIVED,
        },
    } == {level: {kind for kind in Kind if SEVERITIES[kind] is level} for level in Severity}


def raised(cls, mine=None, **reach):
    """Return (kind, severity) of what a reachability raises for a pin."""
    it = drawn(TEXT)
    mine = mine or pin("B")
    return [(found.kind, found.severity) for found in of_pin(mine, Reachability(cls=cls, **reach), it.pinned(mine))]


@pytest.mark.parametrize(
    ("cls", "found"),
    [
        (ReachabilityClass.DEFAULT, []),
        (ReachabilityClass.RELEASE_TAG, []),
        (ReachabilityClass.BRANCH, []),
        (ReachabilityClass.TAG_OFF_LINEAGE, [(Kind.PIN_ON_TAG_ONLY, LOW)]),
        (ReachabilityClass.PULL_ONLY, [(Kind.PIN_ON_PULL_ONLY, MEDIUM)]),
        (ReachabilityClass.ORPHANED, [(Kind.PIN_UNREACHABLE, HIGH)]),
        (ReachabilityClass.SERVED_ONLY, [(Kind.PIN_UNREACHABLE, HIGH)]),
        (ReachabilityClass.GONE, [(Kind.PIN_ABSENT, CRITICAL)]),
        (ReachabilityClass.UNKNOWN, []),
    ],
)
def test_classes(cls, found):
    """Each class raises what the design's table says."""
    assert found == raised(cls)


def test_no_bump_for_what_is_lost():
    """What is lost gets advice, never a target."""
    it = drawn(TEXT)
    for cls in ReachabilityClass:
        for found in of_pin(pin("B"), Reachability(cls=cls), it.pinned(pin("B"))):
            assert None is found.target
            assert found.advice


def test_pull_only_names_the_landing():
    """A pin on a proposal is told as what it landed."""
    it = drawn(TEXT)
    (found,) = of_pin(pin("B"), Reachability(cls=ReachabilityClass.PULL_ONLY, twin=named("C")), it.pinned(pin("B")))
    assert f"It landed as {named('C')}." == found.advice


def test_floating():
    """A floating pin is told with where it stands now; one whose branch is gone is told as that alone."""
    it = drawn(TEXT)
    mine = pin("main", kind=RefKind.BRANCH)
    seen = it.pinned(positions={mine.id: Position(commit=named("C"), holders=("refs/heads/main",))})
    (found,) = of_pin(mine, Reachability(cls=ReachabilityClass.DEFAULT), seen)
    assert (Kind.PIN_FLOATING, LOW) == (found.kind, found.severity)
    assert f"project: follows main (now {named('C')[:12]}) instead of naming a commit" == found.headline
    assert [Kind.PIN_ABSENT] == [it.kind for it in of_pin(mine, Reachability(cls=ReachabilityClass.GONE), seen)]


def test_floating_by_the_manifest_alone():
    """That a pin follows a branch is known without its upstream; the default branch has no name then."""
    (found,) = of_manifest(pin(None, kind=RefKind.DEFAULT_BRANCH))
    assert "project: follows the default branch instead of naming a commit" == found.headline
    (known,) = of_manifest(pin(None, kind=RefKind.DEFAULT_BRANCH), head="refs/heads/main")
    assert ("project: follows main instead of naming a commit", found.key) == (known.headline, known.key)
    assert [] == of_manifest(pin("v1", kind=RefKind.TAG))


def test_keys():
    """A key survives another line and other words, and tells pins, kinds and what was lost apart."""
    it = drawn(TEXT)
    lost = Reachability(cls=ReachabilityClass.ORPHANED, refs=("refs/heads/topic",), detail="one")

    def key(mine, reach):
        return of_pin(mine, reach, it.pinned(mine))[0].key

    first = key(pin("B"), lost)
    assert first == key(pin("B", line=99), replace(lost, detail="other words", since=NOW))
    assert "pin-unreachable:ours:docker/Dockerfile:project:cuda:refs/heads/topic" == first
    others = {
        key(pin("B", variant="rocm"), lost),
        key(pin("B"), replace(lost, refs=("refs/heads/other",))),
        key(pin("B"), replace(lost, cls=ReachabilityClass.GONE)),
    }
    assert 3 == len(others - {first})


def test_since():
    """What is lost is told since a ref was last seen holding it."""
    it = drawn(TEXT)
    reach = Reachability(cls=ReachabilityClass.ORPHANED, since=day(3))
    assert day(3) == of_pin(pin("B"), reach, it.pinned(pin("B")))[0].since


def moved(ref, before="A", after="C", *, forced=False, at=NOW):
    """Return a move of a ref."""
    return Move(ref=ref, before=before and named(before), after=after and named(after), forced=forced, at=at)


def after(it, move, *pins, **changes):
    """Return (kind, severity, pin) of what a move raises."""
    return [
        (found.kind, found.severity, found.pin) for found in of_refs(pins, it.pinned(*pins, moves=(move,), **changes))
    ]


def test_tag_moved():
    """A tag that moves is loud under a pin that uses it, quiet elsewhere; it is an event."""
    it = drawn(TEXT)
    mine, other = pin("v1", kind=RefKind.TAG), pin("B", variant="rocm")
    assert [(Kind.TAG_MOVED, HIGH, mine.id)] == after(it, moved("refs/tags/v1"), mine, other)
    assert [(Kind.TAG_MOVED, LOW, None)] == after(it, moved("refs/tags/v1"), other)
    (found,) = of_refs((), it.pinned(moves=(moved("refs/tags/v1"),)))
    assert (True, NOW) == (found.is_event, found.since)


def test_tag_moved_under_a_pin_that_calls_it_a_branch():
    """`clone --branch v1` names a tag where no branch is called so: it is the tag's user."""
    mine = pin("v1", kind=RefKind.BRANCH)
    assert [(Kind.TAG_MOVED, HIGH, mine.id)] == after(drawn(TEXT), moved("refs/tags/v1"), mine)
    both = drawn(TEXT, refs={"refs/heads/v1": "B"})
    assert [(Kind.TAG_MOVED, LOW, None)] == after(both, moved("refs/tags/v1"), mine)


def test_tags_that_come_and_go():
    """A new tag is nothing; a deleted one is told by the pin that it leaves behind."""
    it = drawn(TEXT)
    assert [] == after(it, moved("refs/tags/v1", before=None))
    assert [] == after(it, moved("refs/tags/v1", after=None))


def test_branch_rewound():
    """A forced branch is told where it is the default one, a pin follows it, or it ever held a pin."""
    it = drawn(TEXT, refs={"refs/heads/topic": "C", "refs/heads/dev": "C"})
    told = [(Kind.BRANCH_REWOUND, LOW, None)]
    mine = pin("topic", kind=RefKind.BRANCH)
    held = {named("B"): (Holding(ref="refs/heads/dev", first_seen=day(1), last_seen=day(2), tip=named("B")),)}
    assert told == after(it, moved("refs/heads/main", forced=True))
    assert told == after(it, moved("refs/heads/topic", forced=True), mine)
    assert told == after(it, moved("refs/heads/dev", forced=True), pin("B"), holdings=held)
    assert [] == after(it, moved("refs/heads/dev", forced=True), pin("B"))
    assert [] == after(it, moved("refs/heads/main", forced=False))
    assert [] == after(it, moved("refs/heads/main", forced=None))
    assert [] == after(it, moved("refs/heads/main", before=None))


def test_each_rewind_is_an_event_of_its_own():
    """A branch that is forced twice is two findings."""
    it = drawn(TEXT)
    keys = {
        of_refs((), it.pinned(moves=(moved("refs/heads/main", forced=True, at=at),)))[0].key
        for at in (NOW, NOW + timedelta(hours=1))
    }
    assert 2 == len(keys)


def test_moved_upstream():
    """A permanent redirect is told with the new address."""
    it = drawn(TEXT)
    new = "https://example.org/new/project"
    (found,) = of_refs((), it.pinned(advertisement=replace(it.refs, moved_to=new)))
    assert (Kind.UPSTREAM_MOVED, MEDIUM, f"Write {new} in the manifests.") == (
        found.kind,
        found.severity,
        found.advice,
    )


@pytest.mark.parametrize(
    ("known", "now", "kinds"),
    [
        ("Y", "Z", [Kind.UPSTREAM_REPLACED]),
        ("Z", "Z", []),
        ("Y", "YZ", []),
        ("A", "Z", []),
        ("YA", "Z", []),
        ("", "Z", []),
        ("Y", "", []),
    ],
)
def test_replaced_upstream(known, now, kinds):
    """A history without one root of those that we knew, on any branch, is another repository."""
    it = drawn("A---B  (pages)\n\nZ  (main)\n\nY")
    seen = it.pinned(known_roots=frozenset(map(named, known)), roots=frozenset(map(named, now)))
    assert kinds == [found.kind for found in of_refs((), seen)]


def hosted(id_="1", address=UPSTREAM, **more):
    """Return what a forge says."""
    return Hosted(api="https://api.example.org", id=id_, address=address, **more)


def told_of(said, *, known="1", it=None, **more):
    """Return what is raised where a forge says something of a repository that it knew by an id."""
    it = it or drawn(TEXT)
    return of_refs((), it.pinned(hosted=said, known_id=known, **more))


@pytest.mark.parametrize(
    ("said", "known", "kinds"),
    [
        (None, None, []),
        (None, "1", []),
        (hosted(), None, []),
        (hosted(), "1", []),
        (hosted("2"), None, []),
        (hosted("2"), "1", [Kind.UPSTREAM_REPLACED]),
        (hosted(address=UPSTREAM.upper()), "1", []),
        (hosted(address="https://example.org/new/project"), "1", [Kind.UPSTREAM_MOVED]),
        (hosted(address="https://example.org/new/project"), None, [Kind.UPSTREAM_MOVED]),
        (hosted("2", address="https://example.org/new/project"), "1", [Kind.UPSTREAM_REPLACED]),
        (hosted(is_archived=True), "1", [Kind.UPSTREAM_ARCHIVED]),
        (hosted(is_private=True), "1", []),
    ],
)
def test_what_a_forge_says(said, known, kinds):
    """Another id is another repository, the same one under another name has moved, an archived one is told."""
    assert kinds == [found.kind for found in told_of(said, known=known)]


def test_a_move_is_told_once():
    """Git's redirect and the forge say the same: one finding under one key, by whoever tells it."""
    new = "https://example.org/new/project"
    it = drawn(TEXT)
    (by_both,) = told_of(hosted(address=new), it=it, advertisement=replace(it.refs, moved_to=new))
    (by_forge,) = told_of(hosted(address=new))
    (by_git,) = told_of(None, it=it, advertisement=replace(it.refs, moved_to=new))
    assert by_git == by_both
    assert (by_git.key, by_git.advice) == (by_forge.key, by_forge.advice)
    assert by_git.detail != by_forge.detail


def test_another_history_gives_the_key_whatever_the_forge_says():
    """Git tells it at every look, the forge only where it answers."""
    it = drawn("A---B  (main)\n\nY")
    roots = {"known_roots": frozenset({named("Y")}), "roots": frozenset({named("A")})}
    (alone,) = told_of(None, it=it, **roots)
    (both,) = told_of(hosted("2"), it=it, **roots)
    assert (alone.key, 1, 2) == (both.key, len(alone.detail), len(both.detail))
    (copied,) = told_of(hosted("2"), roots=roots["roots"], known_roots=roots["roots"])
    assert replaced_key(UPSTREAM, hosted("2")) == copied.key != alone.key
    assert "acknowledged" in copied.advice
    (empty,) = told_of(hosted("2"), roots=frozenset(), known_roots=roots["roots"])
    assert (copied.key, 2, 1) == (empty.key, len(copied.detail), len(empty.detail))


@pytest.mark.parametrize(
    ("known", "accepted", "roots", "answer"),
    [
        ("1", None, "A", False),
        (None, None, "A", False),
        ("0", None, "A", True),
        ("0", "1", "A", False),
        ("0", "7", "A", True),
        ("0", None, "Y", False),
    ],
)
def test_what_is_withheld(known, accepted, roots, answer):
    """Fixes of a copy of which nobody took note; where the history is another one, pins are lost already."""
    it = drawn("A---B  (main)\n\nY")
    known_roots = frozenset(map(named, roots))
    seen = it.pinned(
        hosted=hosted(),
        known_id=known,
        accepted_id=accepted,
        known_roots=known_roots,
        roots=frozenset({named("A")}),
    )
    assert answer is is_withheld(seen)


def test_an_archived_upstream():
    """It is one finding for as long as it lasts, and low."""
    (found,) = told_of(hosted(is_archived=True))
    assert (f"upstream-archived:{UPSTREAM}", LOW, False) == (found.key, found.severity, found.is_event)
    assert "owner/project: is archived, no fix will come from it any more" == found.headline


def test_failures():
    """Silence is one thing, being told that there is no such repository another; the reason is told, the key stays."""
    silent = of_failure(UPSTREAM, "503", day(1), 6, is_missing=False)
    gone = of_failure(UPSTREAM, "404", day(1), 3, is_missing=True)
    assert [(Kind.UPSTREAM_UNOBSERVED, MEDIUM), (Kind.UPSTREAM_GONE, CRITICAL)] == [
        (found.kind, found.severity) for found in (silent, gone)
    ]
    assert (("503",), day(1)) == (silent.detail, silent.since)
    assert "owner/project: could not be observed since 2026-01-02 00:00 UTC (6 tries)" == silent.headline
    assert (
        of_failure(UPSTREAM, "502", day(1), 9, is_missing=False).key == silent.key == f"upstream-unobserved:{UPSTREAM}"
    )


def test_short_names():
    """A sentence calls an upstream by owner and name."""
    assert "owner/project" == concerns.short_name(UPSTREAM)


def test_tag_that_moves_in_two_steps():
    """A tag that was deleted at one look and is back elsewhere has moved; back where it was, it has not."""
    it = drawn(TEXT)
    gone = moved("refs/tags/v1", before="A", after=None, at=day(1))
    for back, kinds in (("C", [Kind.TAG_MOVED]), ("A", [])):
        again = moved("refs/tags/v1", before=None, after=back)
        seen = it.pinned(moves=(again,), known_moves=(gone, again))
        assert kinds == [found.kind for found in of_refs((), seen)]
