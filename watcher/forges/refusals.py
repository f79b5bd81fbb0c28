"""Say what it means that a forge did not do what was asked, and what a person can do about it."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import Any

from watcher.errors import ForgeError
from watcher.forges.values import Forge
from watcher.report.text import safe

_LONGEST = 200
"""Characters of what a forge says that are told."""
_A_WHILE = timedelta(minutes=1)
"""What GitHub asks for where it asks for patience and names no time."""
_AT_MOST = timedelta(days=1)
_TOLD = ("message", "error", "error_description", "errors", "resource", "field", "code", "base")


@dataclass(frozen=True, slots=True, kw_only=True)
class Aim:
    """What a request is for."""

    what: str
    """Continues "may not …": `open an issue in owner/name`."""
    needs: str
    """What the token must be allowed for it, in the forge's own words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asker:
    """Who asks, and whom."""

    host: str
    token: str | None
    """Where the token is, never the token itself."""

    @property
    def advice(self) -> str:
        """Return what to do where no token is given."""
        return f"name one in the configuration, forges: {{{self.host}: {{token: env:NAME}}}}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """An answer that refuses."""

    status: int
    headers: Mapping[str, str]
    said: str = ""


def said(content: bytes, secret: str) -> str:
    """Return what an answer says in words, on one line and without the secret, should it be repeated there."""
    try:
        words = ": ".join(dict.fromkeys(_words(json.loads(content))))
    except (ValueError, RecursionError):
        return ""
    return safe(words.replace(secret, "***") if secret else words, _LONGEST)


def refusal(answer: Answer, aim: Aim, asker: Asker, now: datetime) -> ForgeError:
    """Return the error for an answer that refuses."""
    error = _refusal(answer, answer.said.lower(), aim, asker, now)
    told = f" ({asker.host} says: {answer.said})" if answer.said else ""
    return ForgeError(f"{error}{told}", kind=error.kind, again=error.again)


def _refusal(answer: Answer, words: str, aim: Aim, asker: Asker, now: datetime) -> ForgeError:
    if _is_limited(answer, words):
        return _limited(answer, asker, now)
    match answer.status:
        case HTTPStatus.UNAUTHORIZED:
            return _unauthorised(aim, asker)
        case HTTPStatus.LOCKED:
            return _archived(aim)
        case status if status >= HTTPStatus.INTERNAL_SERVER_ERROR or status == HTTPStatus.REQUEST_TIMEOUT:
            again = _asked_for(answer.headers, now)
            return ForgeError(f"{asker.host} has trouble ({status}): try again later", kind="busy", again=again)
    if "archived" in words:
        return _archived(aim)
    if "protected" in words or "rule violation" in words:
        return ForgeError(
            f"cannot {aim.what}: the branch is protected; let the account of the token push to it, or use another",
            kind="protected",
        )
    if "already exist" in words or "already been taken" in words:
        return ForgeError(f"cannot {aim.what}: there is one already", kind="duplicate")
    return _by_status(answer.status, aim, asker)


def _by_status(status: int, aim: Aim, asker: Asker) -> ForgeError:
    holder = f"the token in {asker.token}" if asker.token else "whoever has no token"
    match status:
        case HTTPStatus.FORBIDDEN:
            way = f"give it {aim.needs}" if asker.token else asker.advice
            return ForgeError(f"{holder} may not {aim.what}: {way}", kind="forbidden")
        case HTTPStatus.NOT_FOUND | HTTPStatus.UNAVAILABLE_FOR_LEGAL_REASONS:
            return ForgeError(
                f"cannot {aim.what}: on {asker.host} it is not there, or it is private and hidden from {holder}",
                kind="missing",
            )
        case _:
            return ForgeError(f"{asker.host} does not {aim.what} as it was asked to ({status})", kind="unfit")


def _is_limited(answer: Answer, words: str) -> bool:
    """Answer whether the trouble is how often we ask: GitHub says that by 403 as well."""
    if answer.status == HTTPStatus.TOO_MANY_REQUESTS:
        return True
    is_spent = answer.headers.get("X-RateLimit-Remaining") == "0" or "Retry-After" in answer.headers
    return answer.status == HTTPStatus.FORBIDDEN and (is_spent or "rate limit" in words or "abuse" in words)


def _limited(answer: Answer, asker: Asker, now: datetime) -> ForgeError:
    again = _asked_for(answer.headers, now) or _A_WHILE
    minutes = -(-int(again.total_seconds()) // 60)
    more = "" if asker.token else "; with a token it allows more"
    return ForgeError(
        f"{asker.host} says that we ask too often: ask again in {minutes} min{more}", kind="limited", again=again
    )


def _unauthorised(aim: Aim, asker: Asker) -> ForgeError:
    if asker.token:
        reason = (
            f"{asker.host} does not accept the token in {asker.token}: it is wrong, expired or revoked; put a new one"
        )
    else:
        reason = f"{asker.host} wants a token to {aim.what}: {asker.advice}"
    return ForgeError(reason, kind="unauthorised")


def _archived(aim: Aim) -> ForgeError:
    return ForgeError(f"cannot {aim.what}: the repository is archived, and so only read", kind="archived")


def _asked_for(headers: Mapping[str, str], now: datetime) -> timedelta | None:
    """Return the pause that an answer asks for: in seconds, until a date, or until the allowance is renewed."""
    wait = headers.get("Retry-After", "")
    reset = headers.get("X-RateLimit-Reset") or headers.get("RateLimit-Reset") or ""
    if _is_count(wait):
        pause = timedelta(seconds=int(wait))
    elif then := _date(wait):
        pause = then - now
    elif _is_count(reset):
        pause = datetime.fromtimestamp(int(reset), UTC) - now
    else:
        return None
    return min(max(pause, timedelta(seconds=1)), _AT_MOST)


def _is_count(written: str) -> bool:
    return written.isascii() and written.isdigit() and len(written) <= 11  # noqa: PLR2004 - digits of a time


def _date(written: str) -> datetime | None:
    try:
        then = parsedate_to_datetime(written)
    except ValueError:
        return None
    return then.replace(tzinfo=then.tzinfo or UTC)


def _words(value: Any) -> Iterator[str]:
    """Find the texts of an answer that are meant for people, whatever shape the forge gives them."""
    match value:
        case str():
            yield value
        case list():
            for item in value:
                yield from _words(item)
        case dict():
            for key in _TOLD:
                yield from _words(value.get(key))


def without_base(error: ForgeError, base: str, forge: Forge) -> ForgeError:
    """Return the error of a pull request that was not opened, clearer where its base is not there (any more)."""
    if error.kind not in {"unfit", "missing"} or forge.branch(base) is not None:
        return error
    default = forge.repository().default_branch
    now = f"; its default branch is now {safe(default)}: ask again for that" if default else ""
    return ForgeError(f"there is no branch {safe(base)} to bring a pull request to{now}", kind="unfit")
