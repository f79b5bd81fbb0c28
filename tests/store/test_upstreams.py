"""What is remembered of upstreams comes back exactly, and grows by what changed alone."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.strategies import oids, texts
from watcher.model import Advertisement, Holding, Hosted, Identity, Move, Patience, Ref, Unobserved, oid
from watcher.store import Store

ONE, OTHER = "https://example.org/one", "https://example.org/two"
NOW = datetime(2026, 8, 19, 9, tzinfo=UTC)
LATER, LAST = NOW + timedelta(minutes=15), NOW + timedelta(days=1)
A, B, C, TAG = (oid(digit * 40) for digit in "abcd")
LATIN = "refs/heads/caf\udce9"
"""A branch name with a byte that is no UTF-8, as it comes out of git."""


@pytest.fixture
def store(tmp_path):
    with Store.open(tmp_path) as opened:
        yield opened


def advertised(digest="1", pulls=(), **heads):
    refs = tuple(Ref(name=f"refs/heads/{name}", oid=tip) for name, tip in sorted(heads.items()))
    return Advertisement(refs=refs, head="refs/heads/main", digest=digest, pulls=tuple(pulls))


def rows_written(store, act):
    """Return how many rows an act writes or deletes."""
    before = store._db.total_changes
    act()
    return store._db.total_changes - before


# --- snapshots -------------------------------------------------------------------------------------------------------


def test_nothing_is_known_at_first(store):
    """Of an upstream that was never seen there is nothing, and it is said so without an error."""
    assert (None, None, None) == (store.snapshot(ONE), store.last_seen(ONE), store.patience(ONE))
    assert ((), ()) == (store.moves(ONE), store.holdings(ONE, A))
    assert Identity() == store.identity(ONE)


def test_snapshot_comes_back(store):
    """Every field of an advertisement comes back as it was."""
    seen = Advertisement(
        refs=(Ref(name=LATIN, oid=A), Ref(name="refs/tags/v1", oid=TAG, peeled=B)),
        head=LATIN,
        digest="abc",
        object_format="sha256",
        filters=False,
        moved_to=OTHER,
        pulls=(Ref(name="refs/pull/7/head", oid=C),),
    )
    store.record_snapshot(ONE, seen, NOW)
    assert (seen, NOW, None) == (store.snapshot(ONE), store.last_seen(ONE), store.snapshot(OTHER))


def test_snapshots_of_many_at_once(store):
    """New ones, changed ones and those that are as before: each comes back as it was written last."""
    refs = tuple(Ref(name=f"refs/heads/{name}", oid=A) for name in "abc")
    before = {name: Advertisement(refs=refs, head=None, digest="1") for name in (ONE, OTHER)}
    store.record_snapshots(before, NOW)
    pulls = (Ref(name="refs/pull/1/head", oid=B),)
    now = {
        ONE: Advertisement(refs=(*refs[1:], Ref(name="refs/heads/d", oid=C)), head=None, digest="2", pulls=pulls),
        OTHER: before[OTHER],
        "https://third.example": Advertisement(refs=refs, head=None, digest="3", pulls=pulls),
    }
    store.record_snapshots(now, LATER)
    assert now == {name: store.snapshot(name) for name in now}
    assert {ONE: LATER, OTHER: NOW} == {name: store.activity()[name][0] for name in before}


names = st.text(st.characters(exclude_categories=[], exclude_characters="\\\0"), min_size=1, max_size=6)
refs = st.lists(st.builds(Ref, name=names, oid=oids, peeled=st.none() | oids), max_size=6, unique_by=lambda it: it.name)


@given(
    st.lists(
        st.builds(
            lambda held, pulls, **fields: Advertisement(
                refs=tuple(sorted(held, key=lambda it: it.name)),
                pulls=tuple(sorted(pulls, key=lambda it: it.name)),
                digest=repr(sorted(held, key=lambda it: it.name)).encode("utf-8", "backslashreplace").decode(),
                **fields,
            ),
            held=refs,
            pulls=refs,
            head=st.none() | names,
            filters=st.booleans(),
            moved_to=st.sampled_from([None, OTHER]),
        ),
        max_size=4,
    )
)
@settings(deadline=None, max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_last_snapshot_counts(store, looks):
    """Whatever was seen one after the other, the last one comes back."""
    for seen in looks:
        store.record_snapshot(ONE, seen, NOW)
        assert seen == store.snapshot(ONE)


def test_unchanged_snapshot_writes_one_row(store):
    """An advertisement with the known digest moves the time and writes no ref."""
    store.record_snapshot(ONE, advertised(main=A, topic=B), NOW)
    assert 1 == rows_written(store, lambda: store.record_snapshot(ONE, advertised(main=A, topic=B), LATER))
    assert (advertised(main=A, topic=B), LATER) == (store.snapshot(ONE), store.last_seen(ONE))
    assert (NOW.isoformat(timespec="microseconds"),) == store._row("SELECT changed_at FROM snapshots")


def test_changed_snapshot_writes_what_changed(store):
    """One moved branch of a thousand is one row gone, one row new, and the row of the upstream."""
    many = {f"topic{number}": A for number in range(1000)}
    store.record_snapshot(ONE, advertised("1", **many), NOW)
    moved = advertised("2", **many | {"topic7": B})
    assert 3 == rows_written(store, lambda: store.record_snapshot(ONE, moved, LATER))
    assert moved == store.snapshot(ONE)


def test_pull_refs_have_their_own_life(store):
    """Pull refs come and go under an unchanged digest: they are asked for only when a pin needs them."""
    pull = Ref(name="refs/pull/7/head", oid=C)
    for pulls in [(), (pull,), (replace(pull, oid=B),), ()]:
        store.record_snapshot(ONE, advertised(main=A, pulls=pulls), NOW)
        assert pulls == store.snapshot(ONE).pulls


def test_redirect_under_unchanged_refs(store):
    """A repository that moved with all its refs is known to have moved."""
    store.record_snapshot(ONE, advertised(main=A), NOW)
    store.record_snapshot(ONE, replace(advertised(main=A), moved_to=OTHER), LATER)
    assert OTHER == store.snapshot(ONE).moved_to


def test_one_name_twice(store):
    """A server that advertises one name twice does not stop the watcher."""
    twice = Advertisement(
        refs=(Ref(name="refs/heads/x", oid=A), Ref(name="refs/heads/x", oid=A, peeled=B)), head=None, digest="1"
    )
    store.record_snapshot(ONE, twice, NOW)
    assert ["refs/heads/x"] == [ref.name for ref in store.snapshot(ONE).refs]


def test_naive_times_are_refused(store):
    """A time without a zone is a defect, and nothing is written."""
    with pytest.raises(ValueError, match="expected an aware time, found 2026-08-19T09:00:00"):
        store.record_snapshot(ONE, advertised(main=A), NOW.replace(tzinfo=None))
    assert store.snapshot(ONE) is None


def test_other_zones_become_utc(store):
    """A time of another zone is the same moment in UTC."""
    store.record_snapshot(ONE, advertised(main=A), NOW.astimezone(timezone(timedelta(hours=2))))
    assert (NOW, UTC) == (store.last_seen(ONE), store.last_seen(ONE).tzinfo)


# --- moves -----------------------------------------------------------------------------------------------------------


def test_moves_come_back_in_order(store):
    """The log of moves keeps everything, in the order in which it was seen; one ref can be asked for."""
    new = Move(ref="refs/heads/main", before=None, after=A, forced=False, at=NOW)
    forced = Move(ref="refs/heads/main", before=A, after=B, forced=True, at=LATER)
    latin = Move(ref=LATIN, before=A, after=B, forced=None, at=LATER)
    gone = Move(ref="refs/heads/main", before=B, after=None, forced=False, at=LAST)
    store.record_moves(ONE, [new])
    store.record_moves(OTHER, [new])
    store.record_moves(ONE, [forced, latin])
    store.record_moves(ONE, [gone])
    store.record_moves(ONE, [])
    assert (new, forced, latin, gone) == store.moves(ONE)
    assert (new, forced, gone) == store.moves(ONE, "refs/heads/main")
    assert (latin,) == store.moves(ONE, LATIN)
    assert (new,) == store.moves(OTHER)


# --- the ledger ------------------------------------------------------------------------------------------------------


def test_ledger_extends(store):
    """A ref that still holds a commit has its row extended; one that lost it keeps when it was last seen."""
    store.record_holdings(ONE, A, [Ref(name="refs/heads/main", oid=A), Ref(name="refs/heads/topic", oid=B)], NOW)
    store.record_holdings(ONE, A, [Ref(name="refs/heads/main", oid=C)], LATER)
    assert (
        Holding(ref="refs/heads/main", first_seen=NOW, last_seen=LATER, tip=C),
        Holding(ref="refs/heads/topic", first_seen=NOW, last_seen=NOW, tip=B),
    ) == store.holdings(ONE, A)
    assert ((), ()) == (store.holdings(ONE, B), store.holdings(OTHER, A))


def test_ledger_after_a_gap(store):
    """A ref that holds a commit again has the same row, with its first time."""
    topic = Ref(name="refs/heads/topic", oid=B)
    store.record_holdings(ONE, A, [topic], NOW)
    store.record_holdings(ONE, A, [], LATER)
    store.record_holdings(ONE, A, [topic], LAST)
    assert (Holding(ref="refs/heads/topic", first_seen=NOW, last_seen=LAST, tip=B),) == store.holdings(ONE, A)


def test_ledger_of_a_tag(store):
    """The tip of an annotated tag is the commit behind it."""
    store.record_holdings(ONE, A, [Ref(name="refs/tags/v1", oid=TAG, peeled=B)], NOW)
    assert [B] == [it.tip for it in store.holdings(ONE, A)]


def test_ledger_never_goes_back(store):
    """A look that is written late does not take back what a later one saw."""
    store.record_holdings(ONE, A, [Ref(name="refs/heads/main", oid=B)], LATER)
    store.record_holdings(ONE, A, [Ref(name="refs/heads/main", oid=A)], NOW)
    assert [(LATER, B)] == [(it.last_seen, it.tip) for it in store.holdings(ONE, A)]


# --- failed looks ----------------------------------------------------------------------------------------------------


def failed(*, missing=False, reason="503"):
    return Unobserved(upstream=ONE, reason=reason, missing=missing)


def test_failures_are_counted(store):
    """Failures in a row count up from the first; a good look ends the count."""
    store.record_look(ONE, failed(), NOW)
    counted = store.record_look(ONE, failed(reason="timeout"), LATER)
    assert (
        Patience(tries=2, since=NOW, missing_tries=0, missing_since=None, last_reason="timeout", is_missing=False)
        == counted
    )
    assert (counted, None) == (store.patience(ONE), store.patience(OTHER))
    assert store.record_look(ONE, None, LAST) is None
    assert store.patience(ONE) is None
    assert 1 == store.record_look(ONE, failed(), LAST).tries


def test_missing_is_counted_apart(store):
    """A bad minute among 404s neither adds to what counts towards "gone" nor begins it anew."""
    store.record_look(ONE, failed(), NOW)
    store.record_look(ONE, failed(missing=True, reason="404"), LATER)
    between = store.record_look(ONE, failed(), LATER)
    last = store.record_look(ONE, failed(missing=True, reason="404"), LAST)
    assert (3, 1, LATER, False) == (
        between.tries,
        between.missing_tries,
        between.missing_since,
        between.is_missing,
    )
    assert (
        Patience(tries=4, since=NOW, missing_tries=2, missing_since=LATER, last_reason="404", is_missing=True) == last
    )


# --- identity --------------------------------------------------------------------------------------------------------


def test_identity_grows(store):
    """Roots and addresses are added up, each once."""
    store.record_identity(ONE, NOW, roots=[A])
    store.record_identity(ONE, LATER, roots=[A, B], moved_to=OTHER)
    store.record_identity(ONE, LAST, moved_to=OTHER)
    assert Identity(roots=frozenset({A, B}), aliases=frozenset({OTHER})) == store.identity(ONE)
    assert Identity() == store.identity(OTHER)


def test_all_identities_at_once(store):
    """Are those that are told one by one: of what git showed, of what a forge said, of both."""
    store.record_identity(ONE, NOW, roots=[A], moved_to=OTHER)
    store.record_hosted(ONE, SAID, is_same=True)
    store.record_hosted(OTHER, SAID, is_same=False)
    store.record_identity("https://third.example", NOW, roots=[B])
    known = store.identities()
    assert {ONE, OTHER, "https://third.example"} == set(known)
    assert {name: store.identity(name) for name in known} == known


SAID = Hosted(api="https://api.example.org", id="1", address=OTHER, is_archived=True, is_private=False)
"""What a forge says."""


def test_what_a_forge_said_comes_back(store):
    """As it was; what it says next takes its place."""
    store.record_hosted(ONE, SAID, is_same=True)
    assert Identity(id="1", hosted=SAID) == store.identity(ONE)
    now = replace(SAID, address=ONE, is_archived=False, is_private=True)
    store.record_hosted(ONE, now, is_same=True)
    assert (now, Identity()) == (store.identity(ONE).hosted, store.identity(OTHER))


def test_a_known_id_is_never_overwritten(store):
    """Neither by another repository nor by a pass that takes it for the same; an unknown one is learned later."""
    store.record_hosted(ONE, replace(SAID, id="7"), is_same=False)
    assert None is store.identity(ONE).id
    for told, is_same in [("1", True), ("2", False), ("3", True)]:
        store.record_hosted(ONE, replace(SAID, id=told), is_same=is_same)
        assert ("1", told) == (store.identity(ONE).id, store.identity(ONE).hosted.id)


def test_an_id_means_nothing_at_another_api(store):
    """There it is learned anew, and only of the same repository."""
    store.record_hosted(ONE, SAID, is_same=True)
    assert ("1", None) == (store.identity(ONE).id_at(SAID.api), store.identity(ONE).id_at("https://other"))
    store.record_hosted(ONE, replace(SAID, api="https://other", id="2"), is_same=False)
    assert None is store.identity(ONE).id_at("https://other")
    store.record_hosted(ONE, replace(SAID, api="https://other", id="3"), is_same=True)
    assert "3" == store.identity(ONE).id_at("https://other")


def test_a_number_of_any_size_is_kept(store):
    """A forge may count as it likes."""
    store.record_hosted(ONE, replace(SAID, id="9" * 60), is_same=True)
    assert "9" * 60 == store.identity(ONE).id


# --- facts -----------------------------------------------------------------------------------------------------------


def test_facts_come_back(store):
    """A fact comes back as it was, alone or with all of its kind."""
    store.record_facts(ONE, "grade", 1, {A: {"grade": "likely", "weights": [1.5, None]}, B: {"grade": "possible"}})
    store.record_facts(ONE, "repair", 1, {A: {"anchors": []}})
    assert {"grade": "likely", "weights": [1.5, None]} == store.fact(ONE, A, "grade", 1)
    assert {A, B} == store.facts(ONE, "grade", 1).keys()
    assert {A: {"anchors": []}} == store.facts(ONE, "repair", 1)
    assert (None, None) == (store.fact(ONE, C, "grade", 1), store.fact(OTHER, A, "grade", 1))


def test_newer_facts_replace_older_ones(store):
    """A fact is replaced by one of the same or a newer version; an older one does not come back."""
    for version, body in [(2, "first"), (2, "again"), (1, "older")]:
        store.record_facts(ONE, "grade", version, {A: {"is": body}})
    assert (None, {"is": "again"}) == (store.fact(ONE, A, "grade", 1), store.fact(ONE, A, "grade", 2))
    store.record_facts(ONE, "grade", 3, {A: {"is": "newer"}})
    assert (None, {"is": "newer"}) == (store.fact(ONE, A, "grade", 2), store.fact(ONE, A, "grade", 3))
    assert {} == store.facts(ONE, "grade", 2)


@given(
    st.dictionaries(oids, st.dictionaries(texts, st.none() | st.booleans() | st.integers() | texts | st.lists(texts)))
)
@settings(deadline=None, max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_fact_comes_back(store, facts):
    """Every JSON object comes back exactly."""
    version = 1 + (store._row("SELECT max(version) FROM facts")[0] or 0)
    store.record_facts(ONE, "made-up", version, facts)
    assert facts == store.facts(ONE, "made-up", version)


# --- what followed ---------------------------------------------------------------------------------------------------


def test_what_followed_is_known_for_its_inputs_alone(store):
    """Other pins or settings are another question; None forgets it, and so does an upstream that nothing pins."""
    store.record_conclusion(ONE, "one", "{}", "{}")
    assert "{}" == store.conclusion(ONE, "one")
    assert store.conclusion(ONE, "other") is None
    store.record_conclusion(ONE, "", "{}", "{}")
    assert store.conclusion(ONE, "one") is None
    store.record_conclusion(ONE, "one", "{}", "{}")
    store.forget_conclusions({OTHER})
    assert store.conclusion(ONE, "one") is None


def test_handshakes_tell_nothing_of_refs(store):
    """What the last answer was, for every upstream, without its refs."""
    assert {} == store.handshakes()
    store.record_snapshot(ONE, replace(advertised(main=A), reply="abc"), NOW)
    assert {ONE: replace(advertised(main=A), reply="abc").handshake} == store.handshakes()


def test_an_upstream_that_stayed_the_same_was_seen(store):
    """The refs that held a pin at the last look still do; those that had let go before do not."""
    gone, holds = (Ref(name=f"refs/heads/{name}", oid=A) for name in ("gone", "main"))
    store.record_snapshot(ONE, advertised(main=A), NOW)
    store.record_holdings(ONE, B, [gone, holds], NOW)
    store.record_snapshot(ONE, advertised(main=A), LATER)
    store.record_holdings(ONE, B, [holds], LATER)
    store.touch([ONE], LAST)
    assert LAST == store.last_seen(ONE)
    assert {"refs/heads/gone": NOW, "refs/heads/main": LAST} == {it.ref: it.last_seen for it in store.holdings(ONE, B)}
    store.touch([ONE], NOW)
    assert LAST == store.last_seen(ONE)
