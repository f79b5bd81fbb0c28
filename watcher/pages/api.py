"""What the read-only API answers: the report of a pass, and its parts by dependency, finding and event."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, Protocol

from pydantic import AwareDatetime, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from watcher import standing
from watcher.model import Event, Finding, Severity, State
from watcher.pages import Page
from watcher.pages.openapi import openapi
from watcher.report.json import finding_document, time_text, written
from watcher.report.text import safe
from watcher.standing import Standing, Watched

API = "api/v1/"
JSON = ".json"
"""The addresses of files end so; over HTTP it may be left out."""
MOST = 1000
"""No answer has more events."""
_TOPS = ("openapi", "check", "dependencies", "findings", "events")
_MOMENT = re.compile(r"\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)", re.ASCII)
_NUMBER = re.compile(r"[0-9]{1,9}")


class Memory(Protocol):
    """What was kept of findings."""

    def findings(self) -> tuple[Finding, ...]:
        """Return every finding that was ever made, by key."""

    def finding(self, key: str) -> Finding | None:
        """Return one finding, or None."""

    def events(self, key: str | None = None) -> tuple[Event, ...]:
        """Return what happened, oldest first; to one finding, if its key is given."""


def answer(address: str, query: Mapping[str, str], told: Standing, memory: Memory) -> Page:
    """Return what is at an address below `api/v1/`: a document, or in JSON why there is none."""
    try:
        found = _document(address.removesuffix(JSON).split("/"), query, told, memory)
    except ValidationError as error:
        return _page({"error": "; ".join(_complaints(error))}, 400)
    return _page({"error": "there is no such thing"}, 404) if found is None else _page(found)


def addresses(told: Standing, handles: Iterable[str]) -> tuple[str, ...]:
    """Return every address of the API, for a copy of the whole; `handles` are those of findings."""
    parts = (*(f"dependencies/{it.slug}" for it in told.dependencies), *(f"findings/{it}" for it in handles))
    return tuple(f"{API}{name}{JSON}" for name in (*_TOPS, *parts))


def _document(
    names: Sequence[str], query: Mapping[str, str], told: Standing, memory: Memory
) -> Mapping[str, Any] | None:
    match names:
        case ["openapi"]:
            return openapi(FindingsQuery, EventsQuery)
        case ["check"]:
            return standing.document(told)
        case ["dependencies"]:
            return {"dependencies": [_summary(it) for it in told.dependencies]}
        case ["dependencies", slug]:
            it = told.dependency(slug)
            return _dependency(it) if it else None
        case ["findings"]:
            return _findings(memory.findings(), FindingsQuery.model_validate(query))
        case ["findings", handle]:
            found = memory.finding(told.handles.get(handle, ""))
            return _life(found, memory.events(found.key)) if found else None
        case ["events"]:
            return _events(memory.events(), EventsQuery.model_validate(query))
        case _:
            return None


# --- what is asked ---------------------------------------------------------------------------------------------------


def _moment(value: str) -> str:
    if not _MOMENT.fullmatch(value):
        raise ValueError("expected a time such as 2026-08-20T09:00:00Z")
    return value


def _number(value: str | int) -> str | int:
    if isinstance(value, str) and not _NUMBER.fullmatch(value):
        raise ValueError(f"expected a number from 1 to {MOST}")
    return value


class _Query(BaseModel):
    """What follows the question mark; a filter that does not exist would let all through, so it is refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class FindingsQuery(_Query):
    """Which findings."""

    severity: Severity | None = Field(None, description="So severe, or worse.")
    state: State | None = Field(None, description="Without it: every state but `resolved`.")
    variant: str | None = Field(None, description="About a pin for that variant.", min_length=1, max_length=200)

    def admits(self, it: Finding) -> bool:
        """Answer whether a finding is meant."""
        concern = it.concern
        return (
            (self.severity is None or concern.severity.rank >= self.severity.rank)
            and (it.state is self.state if self.state else it.state is not State.RESOLVED)
            and (self.variant is None or self.variant in concern.variants)
        )


class EventsQuery(_Query):
    """Which events."""

    since: Annotated[AwareDatetime, BeforeValidator(_moment)] | None = Field(
        None, description="At that moment or later (RFC 3339)."
    )
    limit: Annotated[int, BeforeValidator(_number)] = Field(
        100, description="At most so many, the last ones.", ge=1, le=MOST
    )


def _complaints(error: ValidationError) -> Iterable[str]:
    """Yield what is wrong, without a word of what was sent but the name of a parameter."""
    for it in error.errors(include_url=False, include_context=False, include_input=False):
        yield f"{safe('.'.join(map(str, it['loc'])), 40)}: {it['msg'].removeprefix('Value error, ')}"


# --- what is answered ------------------------------------------------------------------------------------------------


def _findings(every: Iterable[Finding], asked: FindingsQuery) -> dict[str, Any]:
    return {"findings": [finding_document(it) for it in every if asked.admits(it)]}


def _life(it: Finding, events: Iterable[Event]) -> dict[str, Any]:
    return {"finding": finding_document(it), "events": [_event(one) for one in events]}


def _events(every: Sequence[Event], asked: EventsQuery) -> dict[str, Any]:
    wanted = [it for it in every if asked.since is None or it.at >= asked.since]
    return {"events": [_event(it) for it in wanted[-asked.limit :]]}


def _event(it: Event) -> dict[str, Any]:
    return {
        "id": it.id,
        "at": time_text(it.at),
        "kind": it.kind.value,
        "baseline": it.is_baseline,
        "finding": finding_document(it.finding),
    }


def _summary(it: Watched) -> dict[str, Any]:
    return {
        "name": it.name,
        "slug": it.slug,
        "upstreams": list(it.upstreams),
        "variants": list(it.variants),
        "severity": it.severity.value if it.severity else None,
        "seen": time_text(it.seen) if it.seen else None,
        "unobserved": [
            {
                "upstream": name,
                "reason": patience.last_reason,
                "missing": patience.is_missing,
                "since": time_text(patience.since),
            }
            for name, patience in it.silences.items()
        ],
    }


def _dependency(it: Watched) -> dict[str, Any]:
    return {
        **_summary(it),
        "pins": list(it.pins),
        "fixes": [fix for _, fix in sorted(it.fixes.items())],
        "suggestions": list(it.suggestions.values()),
        "drift": it.drift,
        "findings": [finding_document(found) for found in it.findings],
    }


def _page(document: Mapping[str, Any], status: int = 200) -> Page:
    return Page(body=f"{written(document)}\n".encode(), media_type="application/json", status=status)
