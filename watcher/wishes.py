"""What did people ask to be proposed by a click, and what became of it?

A wish is written down before anybody is told that it is taken up, and forgotten in the transaction that owes the news
of what became of it: a service that is killed in between does it after its next start. To propose the same again is no
harm, since what is there already is found again.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime

from watcher.acting import finding_named
from watcher.bumping import bump_plans
from watcher.config import BumpWay, Settings
from watcher.errors import UsageError, WatcherError
from watcher.model import Finding, State
from watcher.offering import offered
from watcher.planned import Plan
from watcher.proposing import Done, Outcome, by_downstream, forges, login, propose_issues, propose_pulls
from watcher.report.alert import who
from watcher.report.text import safe
from watcher.routing import channels, channels_for
from watcher.store import Message, Store

_TRIES = 3
"""How often a wish is begun that never comes to an end."""
_NAMES = {BumpWay.ISSUE: "issue", BumpWay.PULL_REQUEST: "pull request"}
Line = tuple[str, str]
"""What became of a wish, and where a browser shows it; empty where nothing does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What a person asked for."""

    handle: str
    """Of the finding whose bump is to be proposed."""
    way: BumpWay
    by: str
    at: str
    """When it was asked for: one wish of a finding is told from the next one by it."""
    tries: int = 0
    """How often it was begun."""

    @property
    def name(self) -> str:
        """Return what is to be opened."""
        return _NAMES[self.way]


def ask(store: Store, settings: Settings, name: str, way: BumpWay, now: datetime, *, by: str) -> str:
    """Write a wish down and return what to tell the person; raise UsageError where it cannot be done."""
    with store.atomic():
        finding = finding_named(store, name)
        if known := next((it for it in waiting(store) if it.handle == finding.handle), None):
            return f"{who(known.by)} asked for it already: the {known.name} is on its way."
        wish = Wish(handle=finding.handle, way=way, by=by, at=now.isoformat())
        _refuse(settings, store, finding, wish)
        _record(store, wish, now)
    return f"Taken up: this message's thread will say what became of the {wish.name}."


def waiting(store: Store) -> tuple[Wish, ...]:
    """Return the wishes that nobody was told the end of, oldest first."""
    found = [
        Wish(handle=handle, way=BumpWay(it["way"]), by=it["by"], at=it["at"], tries=it["tries"])
        for handle, it in store.standings("wish").items()
    ]
    return tuple(sorted(found, key=lambda it: it.at))


def grant(settings: Settings, store: Store, wish: Wish, now: datetime) -> tuple[Line, ...]:
    """Propose what a person asked for, owe the news to the thread, and return it; once more changes nothing."""
    finding = finding_named(store, wish.handle)
    begun = replace(wish, tries=wish.tries + 1)
    if begun.tries > _TRIES:
        lines: tuple[Line, ...] = ((_given_up(wish), ""),)
    else:
        _record(store, begun, now)
        lines = tuple(_became(settings, store, wish, finding, now))
    with store.atomic():
        store.forget_standings("wish", store.standings("wish").keys() - {wish.handle})
        store.owe(_news(settings, store, wish, finding, lines), now)
    return lines


def _refuse(settings: Settings, store: Store, finding: Finding, wish: Wish) -> None:
    """Raise where there is nothing to propose any more, or no way to."""
    what = f"{wish.name[:1].upper()}{wish.name[1:]}"
    if finding.state is State.RESOLVED:
        raise UsageError(f"No {wish.name} was opened: the finding is over.")
    if offered(settings, store, finding.concern) is None:
        raise UsageError(
            f"{what} cannot be opened from here any more: `watcher bump {finding.handle}` shows what can be done."
        )


def _record(store: Store, wish: Wish, now: datetime) -> None:
    told = {"way": wish.way.value, "by": wish.by, "at": wish.at, "tries": wish.tries}
    store.record_standings({f"wish {wish.handle}": told}, now)


def _given_up(wish: Wish) -> str:
    command = f"watcher bump {wish.handle} --all-variants --{wish.way}"
    return f"no {wish.name}: it was begun {_TRIES} times and never came to an end; `{command}` shows why"


# --- the deed --------------------------------------------------------------------------------------------------------


def _became(settings: Settings, store: Store, wish: Wish, finding: Finding, now: datetime) -> Iterator[Line]:
    """Do it as `watcher bump --all-variants` does, and say what became of each part."""
    try:
        plans = bump_plans(settings, store, finding.key, together=True, now=now)
    except WatcherError as error:
        yield _trouble(wish, finding, error)
        return
    parts = [part for plan in plans for part in by_downstream(plan).values()]
    for part in parts:
        try:
            for done in _proposed(settings, store, wish.way, part, now):
                yield from _done(done)
        except WatcherError as error:
            yield _trouble(wish, finding, error)
    if not parts:
        yield from ((f"nothing to bump: {it.pin.place} {it.said}", "") for plan in plans for it in plan.stays)


def _proposed(settings: Settings, store: Store, way: BumpWay, part: Plan, now: datetime) -> tuple[Done, ...]:
    with forges(settings, store, now) as ask_forge:
        if way is BumpWay.ISSUE:
            return propose_issues(settings, part, ask_forge)
        return propose_pulls(settings, part, ask_forge, lambda repository: login(settings, repository))


def _done(done: Done) -> Iterator[Line]:
    more = "; reopen it there if you want it after all" if done.outcome is Outcome.DECLINED else ""
    yield f"{done.said}{more}", done.url
    yield from (("it takes the place of the one for another target", url) for url in done.replaced)


def _trouble(wish: Wish, finding: Finding, error: WatcherError) -> Line:
    return f"no {wish.name} for {finding.concern.dependency or 'it'}: {error}", ""


# --- the news --------------------------------------------------------------------------------------------------------


def _news(settings: Settings, store: Store, wish: Wish, finding: Finding, lines: tuple[Line, ...]) -> Iterator[Message]:
    """Return what the threads of a finding are told; where there is none, its channels are."""
    said = [[safe(words), url] for words, url in (*lines, (f"asked for by {who(wish.by)}", ""))]
    known = [name for name in channels(settings) if store.post_of(finding.key, name)]
    for channel in known or channels_for(settings, finding.concern):
        yield Message(
            about=f"wish {wish.handle} {wish.at}", channel=channel, payload={"reply": finding.key, "said": said}
        )
