"""What looking at one upstream came to: values small enough to be kept, and to travel between machines."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cache

from pydantic import TypeAdapter

from watcher.drawing import Drawing
from watcher.model import (
    Advertisement,
    Concern,
    Discussion,
    Drift,
    Fix,
    Hosted,
    Move,
    Oid,
    Pin,
    Reachability,
    Ref,
    Repair,
    Rung,
    Same,
    Suggestion,
    Unobserved,
    Verdict,
)
from watcher.store import Kept

Said = Advertisement | Same | Unobserved
"""What a server answered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dependency:
    """A dependency that is pinned for two variants or more."""

    name: str
    variants: Mapping[str, Pin]
    policy: str
    """What its variants have to agree on."""

    @property
    def upstream(self) -> str | None:
        """Return where all variants come from; None where they come from several places."""
        upstreams = {pin.upstream for pin in self.variants.values()}
        return upstreams.pop() if len(upstreams) == 1 else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Conclusion:
    """What is to be told of one upstream and its pins."""

    upstream: str
    commits: Mapping[str, Oid]
    """Pin id → the commit that it stands for; pins whose commit could not be had are left out."""
    dates: Mapping[str, datetime] = field(default_factory=dict)
    """Pin id → when that commit was committed."""
    reachability: Mapping[str, Reachability]
    """Pin id → class; pins whose files do not say which ref is used are left out."""
    concerns: tuple[Concern, ...]
    """What is wrong with the upstream and its pins, drifts apart."""
    fixes: Mapping[str, Fix]
    """Those that a pin lacks, or that one variant has over another."""
    suggestions: tuple[Suggestion, ...]
    drifts: tuple[Drift, ...]
    """How those dependencies stand whose variants all come from here."""
    is_withheld: bool = False
    """Another repository answers with the same history: nothing is said of fixes before a person took note."""
    is_settled: bool = False
    """Every pin is held by a branch or tag, and nobody was left to ask: from the same refs follows the same again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """What stands behind a conclusion: kept for those who ask why, and never read by a pass."""

    bound: Oid | None = None
    """The lines of fixes were followed back to this commit."""
    verdicts: Mapping[str, tuple[Verdict, ...]] = field(default_factory=dict)
    """Pin id → what each fix means for it."""
    fixes: Mapping[str, Fix] = field(default_factory=dict)
    """Those that the verdicts are about."""
    single: Mapping[str, Mapping[str, Rung]] = field(default_factory=dict)
    """Pin id → fix id → the smallest target with that fix alone."""
    drawing: Drawing = field(default_factory=Drawing)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sighting:
    """What was seen at one upstream that is to be remembered."""

    advertisement: Advertisement
    moves: tuple[Move, ...]
    holders: Mapping[Oid, tuple[Ref, ...]]
    """Pinned commit → refs that hold it now, the ones that matter most first."""
    roots: frozenset[Oid]
    is_same: bool
    """It is the repository that was seen there before."""
    account: Account = field(default_factory=Account)
    repairs: Mapping[Oid, Repair] = field(default_factory=dict)
    """Landing → what was worked out now."""
    discussions: Mapping[Oid, Discussion] = field(default_factory=dict)
    """Landing → what the forge told now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What came of looking at one upstream, as whoever looked reports it."""

    conclusion: Conclusion | None = None
    """None where it could not be observed."""
    sighting: Sighting | None = None
    """None where nothing is to be remembered but that all is as before."""
    failure: Unobserved | None = None
    hosted: Hosted | None = None
    """What the forge told now of the repository as a whole."""
    accepted_id: str | None = None
    """The forge's id of another repository under the address, of which a person had taken note."""
    reply: tuple[str, Kept] | None = None
    """An address of the forge's, and a new answer there."""
    trouble: str = ""
    """Why the forge was not asked everything."""


def text_of(conclusion: Conclusion) -> str:
    """Return a conclusion as JSON, to be kept; what merely happened in that one look is left out."""
    lasting = tuple(concern for concern in conclusion.concerns if not concern.is_event)
    return _adapter().dump_json(replace(conclusion, concerns=lasting)).decode()


def conclusion_of(text: str) -> Conclusion:
    """Return what `text_of` wrote."""
    return _adapter().validate_json(text)


def account_text(account: Account) -> str:
    """Return an account as JSON, to be kept."""
    return _accounts().dump_json(account).decode()


def account_of(text: str) -> Account:
    """Return what `account_text` wrote."""
    return _accounts().validate_json(text)


@cache
def _accounts() -> TypeAdapter[Account]:
    return TypeAdapter(Account)


@cache
def _adapter() -> TypeAdapter[Conclusion]:
    return TypeAdapter(Conclusion)
