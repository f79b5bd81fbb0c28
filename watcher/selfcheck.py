"""Is everything there that the service needs? Asked once a day, so that what broke quietly is told before it is missed.

Each trouble is one line that knows a way on. No secret is in any.
"""

import os
import re
import shutil
import smtplib
import sqlite3
import ssl
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import closing
from functools import partial
from http import HTTPStatus
from http.client import HTTPException
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import urlsplit

from slack_sdk.errors import SlackApiError, SlackClientError
from slack_sdk.web import WebClient

from watcher import routing
from watcher.channels.mail import Line, PrivateLine
from watcher.channels.slack import API
from watcher.config import Settings
from watcher.config.secret import Secret
from watcher.errors import ConfigError, GitError
from watcher.model import is_oid
from watcher.store import Message, Store, damage
from watcher.upstream import salvage
from watcher.upstream.git import Git
from watcher.upstream.salvage import KEPT, format_of

_PATIENCE = 10.0
"""Seconds that one check may take."""
_LEAST_ROOM = 1_000_000_000
"""Bytes of the disk that must be free."""
_OLDEST_GIT = (2, 39, 5)
_STEPS = 10_000
"""Steps of SQLite's machine between two looks at the clock."""
_PORTS = {"smtp": 25, "smtps": 465}


def self_check(settings: Settings, store: Store) -> tuple[str, ...]:
    """Return what is wrong, one line each; empty where nothing is."""
    checks: dict[str, Callable[[], Iterator[str]]] = {
        "the state database": partial(_database, store.path),
        "the disk": partial(_disk, settings.state),
        "git": _program,
        "secrets": partial(_secrets, settings),
        "Slack": partial(_slack, settings),
        "the mail server": partial(_mail, settings),
        "downstreams": partial(_downstreams, settings),
    }
    deadline = time.monotonic() + _PATIENCE
    running = {name: _begun(check) for name, check in checks.items()}
    troubles = [line for name, answer in running.items() for line in _answer(name, answer, deadline)]
    return (*troubles, *_mirrors(settings.state / "mirrors"))


def damage_owed(settings: Settings) -> tuple[Message, ...]:
    """Return the messages that tell of a damaged database, one for each that is set aside, under the name of its file.

    They go where alerts go that no route leads elsewhere.
    """
    ways = [name for name in routing.channels(settings) if name == routing.SLACK]
    return tuple(
        Message(
            about=line.partition(": ")[0].rpartition("/")[2],
            channel=way,
            payload={"reply": "database", "said": [[line, ""]]},
        )
        for line in damage.aside(settings.state)
        for way in ways
    )


def _begun(check: Callable[[], Iterator[str]]) -> Future[list[str]]:
    """Start a check, and return where its answer will be. One that hangs is left behind: no pool waits for it."""
    answer = Future[list[str]]()

    def work() -> None:
        try:
            answer.set_result(list(check()))
        except BaseException as error:  # noqa: BLE001 - raised again where the answer is read
            answer.set_exception(error)

    Thread(target=work, name="self-check", daemon=True).start()
    return answer


def _answer(name: str, answer: Future[list[str]], deadline: float) -> list[str]:
    try:
        return answer.result(timeout=max(deadline - time.monotonic(), 0))
    except TimeoutError:
        if answer.done():
            raise
        return [f"{name}: no answer within {_PATIENCE:.0f} s; see whether the disk and the network are well"]


# --- this machine ----------------------------------------------------------------------------------------------------


def _database(path: Path) -> Iterator[str]:
    """Read all of the database. A connection of its own can be stopped when that takes too long.

    A damaged one is noted: it is set aside, and made anew of what can be read, when it is opened next.
    """
    yield from damage.aside(path.parent)
    end = time.monotonic() + _PATIENCE * 0.9
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as db:
            db.set_progress_handler(lambda: time.monotonic() > end, _STEPS)
            [said] = db.execute("PRAGMA quick_check(1)").fetchone()
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode == sqlite3.SQLITE_INTERRUPT:
            yield f"{path} is too large to check here; run `sqlite3 {path} 'PRAGMA quick_check'` now and then"
        else:
            yield f"{path} cannot be read ({error}); see to its permissions and its disk"
    except sqlite3.DatabaseError as error:
        yield _damaged(path, str(error))
    else:
        if said != "ok":
            yield _damaged(path, str(said))


def _damaged(path: Path, reason: str) -> str:
    told = damage.words(path, reason)
    damage.note(path, told)
    return told


def _disk(state: Path) -> Iterator[str]:
    try:
        usage = shutil.disk_usage(state)
    except OSError as error:
        yield f"{state} cannot be looked at ({error.strerror}); see to its permissions and its disk"
    else:
        yield from _room(state, usage.free)


def _room(state: Path, free: int) -> Iterator[str]:
    if free < _LEAST_ROOM:
        yield f"{state} has {free / 1e9:.1f} GB free; make room, or move it by `state`"


def _program() -> Iterator[str]:
    try:
        said = Git().run("version", timeout=_PATIENCE * 0.9).decode(errors="replace").strip()
    except GitError as error:
        yield f"the git program does not run ({error}); install git, or see to PATH"
    else:
        yield from _age(said)


def _age(said: str) -> Iterator[str]:
    found = re.search(r"\d+(\.\d+)+", said)
    if not found or tuple(map(int, found[0].split("."))) < _OLDEST_GIT:
        yield f"{said[:80]} is older than {'.'.join(map(str, _OLDEST_GIT))}; install a newer git"


def _downstreams(settings: Settings) -> Iterator[str]:
    for it in settings.downstreams:
        if it.path is not None and not it.path.is_dir():
            yield f"downstream {it.name}: there is no folder {it.path}; put the checkout there, or change `path`"


def _mirrors(folder: Path) -> Iterator[str]:
    """Look into each mirror; one that does not answer ends it, as others on the same disk will not either."""
    for mirror in sorted(folder.glob("*.git")):
        try:
            trouble = _mirror(mirror)
        except GitError as error:
            yield f"{mirror} does not answer ({error}); see whether its disk is well"
            return
        if trouble and mirror.is_dir():  # a rebuild may have moved it meanwhile
            yield f"{mirror} {trouble}"


def _mirror(mirror: Path) -> str:
    """Return what is wrong with a mirror; raise a retryable GitError where it takes too long."""
    if format_of(mirror) is None:
        return "is no mirror of ours, or damaged; restore it from a backup, or remove it to have it fetched again"
    folder = mirror / KEPT
    kept = {it.name for it in folder.iterdir() if is_oid(it.name)} if folder.is_dir() else set()
    options = ("--format=%(refname:lstrip=3) %(objecttype)", KEPT)
    try:
        said = Git(directory=mirror).run("for-each-ref", *options, timeout=_PATIENCE).decode(errors="replace")
    except GitError as error:
        if error.retryable:
            raise
        return f"lost a commit that it kept ({error}); restore it from a backup: upstream may not have it any more"
    lost = sorted(kept - {line.split(" ")[0] for line in said.splitlines()})
    if lost:
        return f"cannot read {KEPT}{lost[0]}; write this id into that file again, or restore the mirror from a backup"
    if gone := salvage.lost(mirror):
        return (
            f"was damaged, and {gone[0]}, which it kept for a pin, could not be read; upstream is asked for it at each"
            f" look; put an archive of `watcher rescue` into {mirror.parent.parent / salvage.RESCUED}, or a backup here"
        )
    return ""


# --- secrets, and who is asked with them -----------------------------------------------------------------------------


def _secrets(settings: Settings) -> Iterator[str]:
    slack, email = settings.slack, settings.email
    places = {
        "slack.token": slack.token if slack else None,
        "slack.app_token": slack.app_token if slack else None,
        "slack.webhook": slack.webhook if slack else None,
        "email.password": email.password if email else None,
    }
    for key, place in places.items():
        try:
            _revealed(place)
        except ConfigError as error:
            yield f"{key}: {error}; put it there, or name another place"


def _slack(settings: Settings) -> Iterator[str]:
    place = settings.slack and settings.slack.token
    if not place:
        return
    try:
        token = _revealed(place)
        WebClient(token, base_url=settings.address(API), timeout=int(_PATIENCE), retry_handlers=[]).auth_test()
    except ConfigError:
        return  # said by `_secrets`
    except SlackApiError as error:
        yield _refusal(error.response, place)
    except (OSError, ValueError, HTTPException, SlackClientError) as error:
        yield f"Slack could not be reached ({type(error).__name__}); see to the network, proxies and certificates"


def _refusal(answer: Any, place: Secret) -> str:
    """Return what an answer other than yes means. One that is none of the API's comes with its whole text."""
    status, said = answer.status_code, answer.data.get("error") if isinstance(answer.data, dict) else None
    if status == HTTPStatus.OK and said:
        return f"slack.token: Slack refuses it ({str(said)[:100]}); put a valid one in {place}"
    return f"Slack has trouble (status {status}); messages wait until it is over"


def _mail(settings: Settings) -> Iterator[str]:
    email = settings.email
    if email is None:
        return
    try:
        with _connected(email.smtp) as server:
            code, _ = server.ehlo()
            is_private = isinstance(server, smtplib.SMTP_SSL) or server.has_extn("starttls")
    except (OSError, smtplib.SMTPException) as error:
        yield f"{email.smtp} could not be reached ({type(error).__name__}); see to the server and the network"
        return
    if code != 250:  # noqa: PLR2004 - how SMTP says yes
        yield f"{email.smtp} does not greet back (status {code}); see to the server"
    elif email.password and not is_private:
        yield f"{email.smtp} offers no STARTTLS: the password cannot be sent there; use smtps:// or another server"


def _connected(address: str) -> smtplib.SMTP:
    parts = urlsplit(address)
    host, port = parts.hostname or "", parts.port or _PORTS[parts.scheme]
    if parts.scheme == "smtps":
        return PrivateLine(host, port, timeout=_PATIENCE, context=ssl.create_default_context())
    return Line(host, port, timeout=_PATIENCE)


def _revealed(place: Secret | None) -> str:
    return place.reveal(os.environ, Path.read_text) if place else ""
