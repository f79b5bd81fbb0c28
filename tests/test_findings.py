"""A finding's life, step by step and in general."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.strategies import concerns, findings, times
from watcher.errors import UsageError
from watcher.findings import acknowledge, changed, dismiss, dismissed, reconcile, reopen, snooze
from watcher.model import Concern, Event, EventKind, Finding, Kind, Severity, State, oid

MONDAY = datetime(2026, 8, 17, 9, tzinfo=UTC)
TUESDAY, WEDNESDAY, THURSDAY = (MONDAY + timedelta(days=days) for days in (1, 2, 3))
FIRST, SECOND = oid("1" * 40), oid("2" * 40)
UPSTREAM = "https://example.org/one"


def unseen(*, pins=(), upstreams=()):
    """Return the answer of a pass that could not observe these pins and upstreams."""
    return lambda concern: concern.pin in pins or concern.upstream in upstreams


ALL_SEEN = unseen()


def concern(severity=Severity.MEDIUM, key="fix-available cuda 95", **fields):
    return Concern(
        key=key,
        kind=fields.pop("kind", Kind.FIX_AVAILABLE),
        severity=severity,
        headline=fields.pop("headline", "a fix is there"),
        pin="cuda",
        upstream=UPSTREAM,
        **fields,
    )


def finding(state=State.OPEN, *, of=None, until=None, note=""):
    return Finding(
        concern=of or concern(),
        state=state,
        opened_at=MONDAY,
        changed_at=MONDAY,
        snoozed_until=until,
        note=note,
    )


def passed(known, seen, *, unknown=ALL_SEEN, now=TUESDAY, is_first=False):
    """Reconcile one finding with one concern; return the finding afterwards and the kinds of the events."""
    after, events = reconcile(
        [known] if known else [], [seen] if seen else [], unknown=unknown, now=now, is_first=lambda _: is_first
    )
    assert [event.finding for event in events] == list(after) * len(events)
    assert all(event.at == now for event in events)
    return after[0], [event.kind for event in events]


# --- what a pass does ------------------------------------------------------------------------------------------------


def test_new_concern_opens():
    """A concern that nobody knew opens a finding now."""
    after, told = passed(None, concern())
    assert Finding(concern=concern(), state=State.OPEN, opened_at=TUESDAY, changed_at=TUESDAY) == after
    assert [EventKind.OPENED] == told


def test_same_concern_is_told_once():
    """A concern that was known and is the same makes no event."""
    assert (finding(), []) == passed(finding(), concern())


def test_wording_is_taken_over_silently():
    """Another headline, place or advice replaces the old one without an event or a new date."""
    worded = concern(headline="two fixes are there", place="docker/Dockerfile:7", advice="bump")
    assert (finding(of=worded), []) == passed(finding(), worded)


@pytest.mark.parametrize("seen", [concern(Severity.LOW), concern(Severity.HIGH), concern(target=FIRST)])
def test_severity_and_target_change_an_open_finding(seen):
    """Another severity, or another target, is one CHANGED event; the finding stays open since it opened."""
    after, told = passed(finding(), seen)
    assert (replace(finding(of=seen), changed_at=TUESDAY), [EventKind.CHANGED]) == (after, told)


@pytest.mark.parametrize("state", [State.OPEN, State.ACKNOWLEDGED, State.SNOOZED])
def test_absent_concern_resolves(state):
    """Whatever state it is in, a finding whose concern is gone resolves, and is not snoozed any more."""
    after, told = passed(finding(state, until=WEDNESDAY if state is State.SNOOZED else None), None)
    assert (State.RESOLVED, TUESDAY, None) == (after.state, after.changed_at, after.snoozed_until)
    assert [EventKind.RESOLVED] == told


@pytest.mark.parametrize("state", [State.OPEN, State.ACKNOWLEDGED, State.SNOOZED, State.RESOLVED])
@pytest.mark.parametrize("unknown", [unseen(pins=["cuda"]), unseen(upstreams=[UPSTREAM])])
def test_unknown_does_not_resolve(state, unknown):
    """A finding about what could not be observed stays exactly as it was."""
    known = finding(state, until=WEDNESDAY if state is State.SNOOZED else None)
    assert (known, []) == passed(known, None, unknown=unknown)


def test_another_unknown_pin_does_not_matter():
    """Only the pin and the upstream of the finding itself keep it from resolving."""
    after, _ = passed(finding(), None, unknown=unseen(pins=["rocm"], upstreams=["https://example.org/two"]))
    assert State.RESOLVED is after.state


def test_unknown_can_be_a_concern_itself():
    """A concern about an upstream that cannot be observed opens though it is unknown."""
    after, told = passed(None, concern(kind=Kind.UPSTREAM_UNOBSERVED), unknown=unseen(upstreams=[UPSTREAM]))
    assert (State.OPEN, [EventKind.OPENED]) == (after.state, told)


def test_resolved_stays_resolved():
    """A resolved finding whose concern stays away makes no event."""
    known = finding(State.RESOLVED)
    assert (known, []) == passed(known, None)


def test_resolved_comes_back():
    """A concern of a resolved finding reopens it: a new life, without the old note, under the old key."""
    after, told = passed(finding(State.RESOLVED, note="it no longer holds"), concern(Severity.LOW))
    assert (finding(of=concern(Severity.LOW)), [EventKind.REOPENED]) == (
        replace(after, opened_at=MONDAY, changed_at=MONDAY),
        told,
    )
    assert (TUESDAY, TUESDAY) == (after.opened_at, after.changed_at)


def test_acknowledged_stays_acknowledged():
    """An acknowledged finding keeps its note, also where severity falls or the target changes."""
    known = finding(State.ACKNOWLEDGED, note="known, see the nightly")
    for seen, expected in [
        (concern(), []),
        (concern(Severity.LOW), [EventKind.CHANGED]),
        (concern(target=SECOND), [EventKind.CHANGED]),
    ]:
        after, told = passed(known, seen)
        assert (State.ACKNOWLEDGED, "known, see the nightly", expected) == (after.state, after.note, told)


@pytest.mark.parametrize("state", [State.ACKNOWLEDGED, State.SNOOZED])
def test_rise_in_severity_reopens(state):
    """Whoever silenced a finding silenced something less severe: it is open again, by one CHANGED event."""
    known = finding(state, until=THURSDAY if state is State.SNOOZED else None, note="later")
    after, told = passed(known, concern(Severity.CRITICAL))
    assert (State.OPEN, None, "", Severity.CRITICAL) == (
        after.state,
        after.snoozed_until,
        after.note,
        after.concern.severity,
    )
    assert [EventKind.CHANGED] == told


@pytest.mark.parametrize(("until", "state"), [(TUESDAY, State.OPEN), (WEDNESDAY, State.SNOOZED)])
def test_snooze_runs_out(until, state):
    """A snooze ends at its time and not before; what changed meanwhile is told with the same event."""
    after, told = passed(finding(State.SNOOZED, until=until), concern(target=FIRST))
    assert (state, FIRST) == (after.state, after.concern.target)
    assert [EventKind.WOKE if state is State.OPEN else EventKind.CHANGED] == told


def test_snooze_runs_out_unseen():
    """A snooze ends by the clock: whoever asked to be reminded is reminded though nobody could look."""
    after, told = passed(finding(State.SNOOZED, until=TUESDAY), None, unknown=unseen(pins=["cuda"]))
    assert (State.OPEN, None, [EventKind.WOKE]) == (after.state, after.snoozed_until, told)


def test_what_happened_stays_until_acknowledged():
    """A moved tag is still worth knowing when the next pass no longer sees the move."""
    moved = concern(kind=Kind.TAG_MOVED, is_event=True)
    assert (finding(of=moved), []) == passed(finding(of=moved), None)
    after, told = passed(finding(State.ACKNOWLEDGED, of=moved, note="we moved it"), None)
    assert (State.RESOLVED, "we moved it", [EventKind.RESOLVED]) == (after.state, after.note, told)


def test_what_happened_can_be_snoozed():
    """A snoozed event wakes like any other finding."""
    moved = finding(State.SNOOZED, of=concern(is_event=True), until=WEDNESDAY)
    assert (moved, []) == passed(moved, None)
    after, told = passed(moved, None, now=WEDNESDAY)
    assert (State.OPEN, [EventKind.WOKE]) == (after.state, told)


def test_louder_of_two_with_one_key():
    """Of two concerns with one key the more severe counts, whichever comes first; of equals the first."""
    low, high = concern(Severity.LOW, headline="low"), concern(Severity.HIGH, headline="high")
    for seen in ([low, high], [high, low], [high, replace(high, headline="again")]):
        after, events = reconcile([], seen, unknown=ALL_SEEN, now=TUESDAY, is_first=lambda _: False)
        assert ["high"] == [it.concern.headline for it in after]
        assert 1 == len(events)


@pytest.mark.parametrize("is_first", [True, False])
def test_baseline(is_first):
    """Events of a first run are marked, and no others."""
    _, events = reconcile([], [concern()], unknown=ALL_SEEN, now=TUESDAY, is_first=lambda _: is_first)
    assert [is_first] == [event.is_baseline for event in events]


# --- what people do --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("state", [State.OPEN, State.SNOOZED, State.ACKNOWLEDGED])
def test_acknowledge(state):
    """To acknowledge is one event, with the reason kept; it ends a snooze."""
    after, event = acknowledge(finding(state, until=THURSDAY if state is State.SNOOZED else None), TUESDAY, "known")
    assert replace(finding(State.ACKNOWLEDGED, note="known"), changed_at=TUESDAY) == after
    assert Event(kind=EventKind.ACKNOWLEDGED, finding=after, at=TUESDAY) == event
    assert not after.is_live


def test_snooze():
    """To snooze is one event, with the time kept."""
    after, event = snooze(finding(), WEDNESDAY, TUESDAY, "after the release")
    assert replace(finding(State.SNOOZED, until=WEDNESDAY, note="after the release"), changed_at=TUESDAY) == after
    assert Event(kind=EventKind.SNOOZED, finding=after, at=TUESDAY) == event


@pytest.mark.parametrize("until", [MONDAY, TUESDAY])
def test_snooze_into_the_past(until):
    """A snooze that would be over at once is refused, with the time that was read."""
    with pytest.raises(UsageError, match=f"until {until:%Y-%m-%d %H:%M} UTC: that time has passed"):
        snooze(finding(), until, TUESDAY)


@pytest.mark.parametrize("state", [State.ACKNOWLEDGED, State.SNOOZED])
def test_reopen(state):
    """What was silenced can count again; it is open since it first opened."""
    after, event = reopen(finding(state, until=THURSDAY, note="later"), TUESDAY)
    assert replace(finding(), changed_at=TUESDAY) == after
    assert Event(kind=EventKind.REOPENED, finding=after, at=TUESDAY) == event


def test_reopen_open():
    """There is nothing to reopen in an open finding."""
    with pytest.raises(UsageError, match="cannot reopen fix-available cuda 95: it is open already"):
        reopen(finding(), TUESDAY)


def test_what_is_dismissed_stays_so():
    """It is over with the word of who said so, and neither comes back nor grows louder, until it is reopened."""
    after, event = dismiss(finding(), TUESDAY, "a feature", "dana (U1)")
    assert (State.RESOLVED, EventKind.RESOLVED, True) == (after.state, event.kind, event.finding.is_dismissed)
    assert ("not a fix: a feature", "dana (U1)") == (after.note, after.by)
    again, events = reconcile(
        [after], [concern(severity=Severity.CRITICAL)], unknown=ALL_SEEN, now=WEDNESDAY, is_first=lambda _: False
    )
    assert ((after,), ()) == (again, events)
    opened, _ = reopen(after, WEDNESDAY)
    assert (State.OPEN, False, "") == (opened.state, opened.is_dismissed, opened.by)


def test_only_a_fix_can_be_none():
    """What is about no fix cannot be dismissed as one."""
    with pytest.raises(UsageError, match="it is about no fix"):
        dismiss(replace(finding(), concern=concern(kind=Kind.PIN_ABSENT)), TUESDAY)


def test_which_landings_are_dismissed():
    """By upstream; the landing is the end of the key."""
    landing = "ab" * 20
    known = replace(finding(), concern=concern(key=f"fix-available:images:Dockerfile:engine:{landing}"))
    after, _ = dismiss(known, TUESDAY)
    assert {UPSTREAM: frozenset({landing})} == dismissed([after, known])


def test_the_reason_is_kept():
    """What resolved a finding, and where a browser shows it."""
    reason = ("Dockerfile:3 moved", "https://example.org/c")
    [after], _ = reconcile(
        [finding()], [], unknown=ALL_SEEN, now=TUESDAY, is_first=lambda _: False, reason=lambda _: reason
    )
    assert reason == (after.note, after.link)


@pytest.mark.parametrize(
    ("name", "act"),
    [
        ("dismiss", lambda known: dismiss(known, TUESDAY)),
        ("acknowledge", lambda known: acknowledge(known, TUESDAY)),
        ("snooze", lambda known: snooze(known, WEDNESDAY, TUESDAY)),
        ("reopen", lambda known: reopen(known, TUESDAY)),
    ],
)
def test_nothing_acts_on_a_resolved_finding(name, act):
    """Acting on a resolved finding is refused with its key and the time when it resolved."""
    with pytest.raises(UsageError, match=f"^cannot {name} fix-available cuda 95: it is resolved on 2026-08-17 09:00"):
        act(finding(State.RESOLVED))


# --- what holds in general -------------------------------------------------------------------------------------------

keys = st.sampled_from("abcde")
known_findings = st.lists(findings(keys), max_size=5, unique_by=lambda it: it.key)
seen_concerns = st.lists(concerns(keys), max_size=5)
unknowns = st.builds(
    unseen,
    pins=st.sets(st.sampled_from(["cuda", "rocm"])),
    upstreams=st.sets(st.sampled_from([UPSTREAM, "https://example.org/two"])),
)


@given(known_findings, seen_concerns, unknowns, times)
def test_twice_is_once(known, seen, unknown, now):
    """The same pass over its own result changes nothing, and tells nothing."""
    after, _ = reconcile(known, seen, unknown=unknown, now=now, is_first=lambda _: False)
    again, events = reconcile(after, seen, unknown=unknown, now=now, is_first=lambda _: False)
    assert (after, ()) == (again, events)


@given(known_findings, seen_concerns, unknowns, times)
def test_every_change_is_told_once(known, seen, unknown, now):
    """A finding has one event exactly where its state, severity, target or date differs from before, and none else."""
    after, events = reconcile(known, seen, unknown=unknown, now=now, is_first=lambda _: False)
    before = {it.key: it for it in known}

    def told(it):
        return it.state, it.concern.severity, it.concern.target

    differs = [it.key for it in after if it.key not in before or told(before[it.key]) != told(it)]
    assert differs == [event.finding.key for event in events]
    assert all(event.finding in after for event in events)


@given(known_findings, seen_concerns, unknowns, times)
def test_nothing_is_lost(known, seen, unknown, now):
    """Every known finding is still there, every concern has one that is not resolved or was dismissed, no key twice."""
    after, _ = reconcile(known, seen, unknown=unknown, now=now, is_first=lambda _: False)
    by_key = {it.key: it for it in after}
    assert len(after) == len(by_key)
    assert {it.key for it in known} | {it.key for it in seen} == by_key.keys()
    assert all(by_key[it.key].state is not State.RESOLVED or by_key[it.key].is_dismissed for it in seen)
    assert all((it.snoozed_until is not None) == (it.state is State.SNOOZED) for it in after)


@given(known_findings, times)
def test_unknown_changes_nothing_but_snoozes(known, now):
    """Where nothing could be observed, a pass only wakes the snoozes that ran out."""
    after, _ = reconcile(known, [], unknown=lambda _: True, now=now, is_first=lambda _: False)
    for was, is_ in zip(known, after, strict=True):
        if was.state is State.SNOOZED and was.snoozed_until <= now:
            assert State.OPEN is is_.state
        else:
            assert was == is_


@given(known_findings, seen_concerns, times)
def test_order_does_not_matter(known, seen, now):
    """Findings end up the same whatever order they come in."""
    loudest = list({it.key: it for it in sorted(seen, key=lambda it: it.severity.rank)}.values())
    one, _ = reconcile(known, loudest, unknown=ALL_SEEN, now=now, is_first=lambda _: False)
    other, _ = reconcile(known[::-1], loudest[::-1], unknown=ALL_SEEN, now=now, is_first=lambda _: False)
    assert sorted(one, key=lambda it: it.key) == sorted(other, key=lambda it: it.key)


@given(st.lists(findings(), unique_by=lambda it: it.key), st.data())
def test_what_changed(known, data):
    """Is what is new, and what is otherwise than it was."""
    quiet = [it for it in known if data.draw(st.booleans())]
    noted = [replace(it, note=f"{it.note}!") for it in known if it not in quiet]
    assert tuple(noted) == changed(known, [*quiet, *noted])
    assert tuple(quiet) == changed(noted, [*quiet, *noted])
