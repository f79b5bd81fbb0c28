"""Made-up concerns and findings, for tests that hold for all of them."""

from datetime import UTC, datetime, timedelta

from hypothesis import strategies as st

from watcher.model import Concern, Finding, Kind, Place, Severity, Side, State, oid

times = st.datetimes(min_value=datetime(2000, 1, 1), max_value=datetime(2100, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001 - hypothesis adds the zone
oids = st.sampled_from("0123456789abcdef").flatmap(lambda digit: st.sampled_from([oid(digit * 40), oid(digit * 64)]))
# With lone surrogates: that is how bytes which are no UTF-8 come out of git.
texts = st.text(st.characters(exclude_categories=[]), max_size=12)
words = st.sampled_from(["", "engine", "déjà vu", "\udcff", "\\udcff", "a\x00b\n", "<!channel>"])
"""Few texts, since a made-up one costs time and most fields are treated alike."""
several = words.map(lambda text: (text,)) | st.just(())
sides = st.builds(
    Side, variant=words, stands=words, has=several, lacks=several, target=st.none() | oids, compare=st.none() | words
)


def concerns(keys=texts):
    """Return made-up concerns with every field filled."""
    return st.builds(
        Concern,
        key=keys,
        kind=st.sampled_from(Kind),
        severity=st.sampled_from(Severity),
        headline=texts,
        detail=several,
        advice=words,
        pin=st.none() | st.sampled_from(["cuda", "rocm"]),
        upstream=st.none() | st.sampled_from(["https://example.org/one", "https://example.org/two"]),
        place=st.none() | words,
        target=st.none() | oids,
        since=st.none() | times,
        is_event=st.booleans(),
        dependency=words,
        places=st.lists(st.builds(Place, text=words, variant=words, url=st.none() | words), max_size=1).map(tuple),
        compare=st.none() | words,
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
        note=draw(words),
        link=draw(st.none() | words),
        by=draw(words),
        is_dismissed=state is State.RESOLVED and draw(st.booleans()),
    )
