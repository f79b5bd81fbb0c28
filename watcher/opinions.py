"""Ask an upstream's forge what git does not know: whose repository it is, the labels of a change, who took a ref away.

Only with a token: without one a forge answers too few questions to be worth asking. What a change was labelled is asked
once and kept; a trouble is told, and everything else is judged as without a forge.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from watcher.address import normalise, one_spelling
from watcher.config import ForgePlace, Settings
from watcher.errors import ConfigError, ForgeError
from watcher.facts import DISCUSSED, from_discussed
from watcher.model import (
    Change,
    Discussion,
    Hosted,
    Identity,
    Oid,
    Reachability,
    ReachabilityClass,
    State,
    Unobserved,
)
from watcher.report.text import safe
from watcher.store import Kept, Store

if TYPE_CHECKING:
    import httpx

    from watcher.forges import Budget, Forge, PullRequest
    from watcher.observation import Observation

_Told = TypeVar("_Told")
NONE = Discussion(number=0)
"""What is kept of a change that has no pull request: it is not asked for again."""
_MOST = 40
"""How many changes of one upstream are asked about in one pass; the rest is in the next ones."""
_NEAR = timedelta(days=2)
"""How long before we noticed it a ref may have been taken away."""
_OF_ALL = frozenset({"busy", "limited", "unauthorised"})
"""The kinds of trouble that a forge would have with the next repository too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """What all questions of one pass share."""

    http: "httpx.Client"
    budget: "Budget"
    now: datetime
    silent: dict[str, str] = field(default_factory=dict)
    """Host → why it is left alone for the rest of the pass: a forge that hangs must not hold up every upstream."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Background:
    """What is known of one upstream before its forge is asked: values only."""

    upstream: str
    identity: Identity
    accepted_id: str | None
    """The forge's id of another repository under the address, of which a person took note."""
    known: Mapping[Oid, Discussion]
    """Landing → what was told before."""
    place: ForgePlace | None = None
    """Where its forge is; None where there is none, or no token for it."""
    address: str = ""
    """Where that answers about the repository as a whole."""
    kept: Kept | None = None
    """What it answered there last."""


@dataclass(slots=True, kw_only=True)
class OneReply:
    """The kept answer about one repository, away from the store, which belongs to one thread."""

    address: str = ""
    kept: Kept | None = None
    is_new: bool = False

    def reply(self, address: str) -> Kept | None:
        """Return what the address answered last, where it is the one."""
        return self.kept if address == self.address else None

    def keep_reply(self, address: str, kept: Kept, _at: datetime) -> None:
        """Keep the answer of the one address."""
        if address == self.address:
            self.kept, self.is_new = kept, True


@dataclass(slots=True, kw_only=True)
class Opinion:
    """What one upstream's forge says, in one pass."""

    before: Background
    forge: "Forge | None" = None
    """None where there is none, or no token for it."""
    silent: dict[str, str] = field(default_factory=dict)
    """`Asking.silent`."""
    reply: OneReply = field(default_factory=OneReply)
    learned: dict[Oid, Discussion] = field(default_factory=dict)
    """Landing → what was told now, to be kept."""
    hosted: Hosted | None = None
    """What was told now of the repository as a whole."""
    is_hidden: bool = False
    """The forge said that there is no such repository, or none that the token may see."""
    left: int = 0
    """How many changes were not asked about yet."""
    trouble: str = ""
    """Why not everything was asked; empty where it was."""

    @property
    def is_open(self) -> bool:
        """Answer whether the next look may hear more of what was seen now."""
        return self.forge is not None and (self.left > 0 or bool(self.trouble))

    def look(self) -> None:
        """Ask about the repository as a whole: first of all, since it shows whether the forge answers."""
        if self.forge is not None and self.before.place is not None:
            self.trouble = self.silent.get(self.before.place.host, "")
            self.hosted = self._asked(partial(self._hosted, self.before.place))

    def told_of(self, seen: "Observation") -> "Observation":
        """Return what was seen, with what the forge says of the repository, now or when it last answered."""
        hosted = self.hosted or self.before.identity.hosted
        known = self.before.identity.id_at(hosted.api) if hosted else None
        return replace(seen, hosted=hosted, known_id=known, accepted_id=self.before.accepted_id)

    def with_word(self, failure: Unobserved) -> Unobserved:
        """Return that git found no repository, with what the forge says of it now."""
        if self.before.place is None or not (self.hosted or self.is_hidden):
            return failure
        return replace(failure, reason=f"{failure.reason}; {self.before.place.host} says that {self._word()}")

    def discussions(self, changes: Sequence[Change]) -> Mapping[Oid, Discussion]:
        """Return what is known of changes, after asking for some that are not, the newest first."""
        unknown = [it for it in reversed(changes) if it.landing not in self.before.known]
        self.left = len(unknown)
        for change in unknown[:_MOST]:
            told = self._asked(partial(_discussion, landing=change.landing))
            if told is None:
                break
            self.learned[change.landing] = told
            self.left -= 1
        return {landing: told for landing, told in {**self.before.known, **self.learned}.items() if told != NONE}

    def with_fate(self, said: Reachability) -> Reachability:
        """Return what is known of a lost commit, with what the forge logged of the ref that held it."""
        if said.cls is not ReachabilityClass.ORPHANED or not said.refs:
            return said
        events = self._asked(lambda forge: forge.ref_events(said.refs[0])) or ()
        taken = [it for it in events if it.kind in {"forced", "deleted"}]
        fitting = [it for it in taken if said.since is None or it.at >= said.since - _NEAR]
        if not fitting:
            return said
        event = min(fitting, key=lambda it: it.at)
        by = f" by {safe(event.actor, 60)}" if event.actor else ""
        told = f"the forge says that it was {event.kind}{by} on {event.at:%Y-%m-%d %H:%M} UTC"
        return replace(said, detail=f"{said.detail}; {told}")

    def _asked(self, question: "Callable[[Forge], _Told]") -> _Told | None:
        """Return an answer; None where there is nobody to ask, or once there was trouble."""
        if self.forge is None or self.trouble:
            return None
        try:
            return question(self.forge)
        except (ForgeError, ConfigError) as error:
            self.trouble = safe(str(error))
            return None

    def _hosted(self, place: ForgePlace, forge: "Forge") -> Hosted | None:
        """Return what the forge says of the repository; None where it knows none, which is an answer as well."""
        try:
            facts = forge.repository()
        except ForgeError as error:
            self.is_hidden = error.kind == "missing"
            if self.is_hidden:
                return None
            if error.kind in _OF_ALL:
                self.silent[place.host] = safe(str(error))
            raise
        return Hosted(
            api=place.api,
            id=str(facts.id),
            address=_address(self.before.upstream, facts.path),
            is_archived=facts.is_archived,
            is_private=facts.is_private,
        )

    def _word(self) -> str:
        """Return what the forge says of a repository that git did not find."""
        known = self.before.identity.id_at(self.hosted.api) if self.hosted else None
        match self.hosted:
            case None:
                return "it is not there, or hidden from the token"
            case Hosted(id=now) if known not in {None, now}:
                return "another repository has that name now"
            case Hosted() as moved if not moved.is_at(self.before.upstream):
                return f"it is {moved.address} now{', and private' if moved.is_private else ''}"
            case Hosted(is_private=True):
                return "it is private: git was shown no right to read it"
            case _:
                return "it is there and public"


def background(
    settings: Settings, store: Store, upstream: str, identity: Identity, asking: Asking | None
) -> Background:
    """Return what is known of an upstream; `asking` is None where no forge is asked at all."""
    facts = store.facts(upstream, "discussion", DISCUSSED)
    alone = Background(
        upstream=upstream,
        identity=identity,
        accepted_id=accepted_id(store, upstream, identity),
        known={landing: from_discussed(it) for landing, it in facts.items()},
    )
    place = settings.forge(upstream)
    if asking is None or place is None or place.token is None:
        return alone
    from watcher.forges import forge_at  # noqa: PLC0415 - large, and needed only where a forge is asked

    forge = forge_at(upstream, place, asking.http, budget=asking.budget, now=asking.now)
    if forge is None:
        return alone
    address = forge.address()
    return replace(alone, place=place, address=address, kept=store.reply(address))


def opinion(before: Background, asking: Asking | None) -> Opinion:
    """Return how to ask the forge of an upstream."""
    if asking is None or before.place is None:
        return Opinion(before=before)
    from watcher.forges import forge_at  # noqa: PLC0415 - large, and needed only where a forge is asked

    reply = OneReply(address=before.address, kept=before.kept)
    forge = forge_at(before.upstream, before.place, asking.http, budget=asking.budget, now=asking.now, memory=reply)
    return Opinion(before=before, forge=forge, silent=asking.silent, reply=reply)


def accepted_id(store: Store, upstream: str, identity: Identity) -> str | None:
    """Return the id under which a forge knows another repository, where somebody acknowledged that."""
    if identity.hosted is None or identity.hosted.id == identity.id:
        return None
    from watcher.judge.concerns import replaced_key  # noqa: PLC0415 - the judges are needed only for what changed

    finding = store.finding(replaced_key(upstream, identity.hosted))
    return identity.hosted.id if finding and finding.state is State.ACKNOWLEDGED else None


def _address(upstream: str, path: str) -> str:
    """Return the address of a repository on the upstream's forge; a path that makes none is told as no other one."""
    scheme, _, rest = one_spelling(upstream).partition("://")
    address = normalise(f"{scheme}://{rest.partition('/')[0]}/{path}")
    return address if address is not None and address == safe(address) else upstream


def _discussion(forge: "Forge", landing: Oid) -> Discussion:
    pull = forge.pull_of(landing)
    return NONE if pull is None else _of_pull(forge, pull)


def _of_pull(forge: "Forge", pull: "PullRequest") -> Discussion:
    issues = forge.linked_issues(pull)
    return Discussion(number=pull.number, labels=pull.labels, issue_labels=_labels(it.labels for it in issues))


def _labels(found: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(label for labels in found for label in labels))
