"""Made-up concerns and findings, for tests that hold for all of them."""

from datetime import UTC, datetime, timedelta

from hypothesis import strategies as st

from watcher.model import Concern, Finding, Kind, Place, Severity, Side, State, oid

times = st.datetimes(min_value=datetime(2000, 1, 1), max_value=datetime(2100, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001 - hypothesis adds the zone
oids = st.sampled_from("0123456789abcdef").flatmap(lambda digit: st.sampled_from([oid(digit * 40), oid(digit * 64)]))
# With lone surrogates: that is how bytes which are no UTF-8 come out of git.
texts = st.text(st.characters(exclude_categories=[]), max_size=12)
several = texts.map(lambda text: (text,)) | st.just(())
sides = st.builds(
    Side, variant=texts, stands=texts, has=several, lacks=several, target=st.none() | oids, compare=st.none() | texts
)


def concerns(keys=texts):
    """Return made-up concerns with every field filled."""
    return st.builds(
        Concern,
        key=keys,
        kind=st.sampled_from(Kind),
        severity=st.sampled_from(Severity),
        headline=texts,
        detail=st.lists(texts, max_size=2).map(tuple),
        advice=texts,
        pin=st.none() | st.sampled_from(["cuda", "rocm"]),
        upstream=st.none() | st.sampled_from(["https://example.org/one", "https://example.org/two"]),
        place=st.none() | texts,
        target=st.none() | oids,
        since=st.none() | times,
        is_event=st.booleans(),
        dependency=texts,
        places=st.lists(
            st.builds(Place, text=texts, variant=st.sampled_from(["cuda", "any"]), url=st.none() | texts), max_size=1
        ).map(tuple),
        compare=st.none() | texts,
        sides=st.lists(sides, max_size=1).map(tuple),
    )


@st.composite
def findings(draw, keys=texts):
    """Return made-up findings in every state."""
    state = draw(st.sampled_from(State))
    opened_at = draw(times)
    return Finding(
        concern=draw(concerns(keys)),
        state=state,
        opened_at=opened_at,
        changed_at=opened_at + draw(st.timedeltas(min_value=timedelta(0), max_value=timedelta(days=99))),
        snoozed_until=draw(times) if state is State.SNOOZED else None,
        note=draw(texts),
        link=draw(st.none() | texts),
        by=draw(texts),
        is_dismissed=state is State.RESOLVED and draw(st.booleans()),
    )
