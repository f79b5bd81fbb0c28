"""Ask an upstream's forge what git does not know: the labels of a change, and who took a ref away.

Only with a token: without one a forge answers too few questions to be worth asking. What a change was labelled is asked
once and kept; a trouble is told, and everything else is judged as without a forge.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import partial
from typing import TypeVar

from watcher.errors import ConfigError, ForgeError
from watcher.forges import Forge, PullRequest
from watcher.model import Change, Discussion, Oid, Reachability, ReachabilityClass
from watcher.report.text import safe

_Told = TypeVar("_Told")
NONE = Discussion(number=0)
"""What is kept of a change that has no pull request: it is not asked for again."""
_MOST = 40
"""How many changes of one upstream are asked about in one pass; the rest is in the next ones."""
_NEAR = timedelta(days=2)
"""How long before we noticed it a ref may have been taken away."""


@dataclass(slots=True, kw_only=True)
class Opinion:
    """What one upstream's forge says, in one pass."""

    forge: Forge | None
    """None where there is none, or no token for it."""
    known: Mapping[Oid, Discussion]
    """Landing → what was told before."""
    learned: dict[Oid, Discussion] = field(default_factory=dict)
    """Landing → what was told now, to be kept."""
    trouble: str = ""
    """Why not everything was asked; empty where it was."""

    def discussions(self, changes: Sequence[Change]) -> Mapping[Oid, Discussion]:
        """Return what is known of changes, after asking for some that are not, the newest first."""
        unknown = [it for it in reversed(changes) if it.landing not in self.known]
        for change in unknown[:_MOST]:
            told = self._asked(partial(_discussion, landing=change.landing))
            if told is None:
                break
            self.learned[change.landing] = told
        return {landing: told for landing, told in {**self.known, **self.learned}.items() if told != NONE}

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

    def _asked(self, question: Callable[[Forge], _Told]) -> _Told | None:
        """Return an answer; None where there is nobody to ask, or once there was trouble."""
        if self.forge is None or self.trouble:
            return None
        try:
            return question(self.forge)
        except (ForgeError, ConfigError) as error:
            self.trouble = safe(str(error))
            return None


def _discussion(forge: Forge, landing: Oid) -> Discussion:
    pull = forge.pull_of(landing)
    return NONE if pull is None else _of_pull(forge, pull)


def _of_pull(forge: Forge, pull: PullRequest) -> Discussion:
    issues = forge.linked_issues(pull)
    return Discussion(number=pull.number, labels=pull.labels, issue_labels=_labels(it.labels for it in issues))


def _labels(found: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(label for labels in found for label in labels))
