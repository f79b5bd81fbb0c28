"""What is shown at which address: read from the store, laid out by the pages, kept until something changes.

Nobody is asked for a page, and no program is started: everything was written down by the last looks.
"""

import gc
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import cache
from importlib.metadata import version
from pathlib import Path

from watcher import remembered
from watcher.config import Settings
from watcher.model import Finding, Pin
from watcher.pages import Page, badge, feed
from watcher.pages.api import API, addresses, answer
from watcher.pages.board import Filters, Lines, board, filters_of
from watcher.pages.dependency import dependency
from watcher.pages.finding import finding, steps
from watcher.pages.history import history, weeks
from watcher.pages.layout import Frame, script, style
from watcher.picture.alone import MEDIA_TYPE, alone
from watcher.picture.sheet import words
from watcher.picture.svg import NARROW, WIDE, svg
from watcher.picture.told import DEPENDENCIES, PICTURES, drawings
from watcher.standing import Reader, Standing, Watched
from watcher.store import Store

BOARD = "index.html"
HISTORY = "history.html"
STYLE = "style.css"
SCRIPT = "filter.js"
CHECK = f"{API}check.json"
FEED = "feed.atom"
_FINDING, _BADGE, _HTML = "finding/", "badge/", ".html"
PUBLIC = (_BADGE, PICTURES)
"""Beginnings of the addresses that may be shown to anybody, for READMEs and issues."""
_LATELY = timedelta(days=90)
"""How far back the feed and the history go."""
_MOST = 64
"""So many pages are kept as they were made."""


@dataclass(slots=True)
class _Kept:
    """What was made of one state of the database, within one minute: pages tell ages."""

    settings: Settings
    state: tuple[object, ...]
    standing: Standing
    pages: dict[tuple[str, Filters], Page | None]


class Site:
    """All pages of one configuration."""

    def __init__(
        self, state: Path, settings: Callable[[], Settings], now: Callable[[], datetime], *, is_copy: bool = False
    ) -> None:
        """`is_copy`: the pages become files, which no server filters."""
        self._state, self._settings, self._now, self._is_copy = state, settings, now, is_copy
        self._lock = threading.Lock()
        self._reader, self._lines = Reader(), Lines()
        self._kept: _Kept | None = None

    def page(self, address: str, query: Mapping[str, str]) -> Page | None:
        """Return what is at an address below the board, None where nothing is; raise StoreError."""
        if address == STYLE:
            return Page(body=style().encode(), media_type="text/css; charset=utf-8")
        if address == SCRIPT and self._is_copy:
            return Page(body=script().encode(), media_type="text/javascript; charset=utf-8")
        now, asked = self._now(), (address or BOARD, filters_of(query) if address in {"", BOARD} else Filters())
        # One at a time: whoever comes while a page is made finds it made.
        with self._lock, Store.open(self._state) as store:
            kept = self._current(store, now)
            if query and address.startswith(API):  # anybody can ask for one that nobody asks for again
                return answer(address.removeprefix(API), query, kept.standing, store)
            if asked not in kept.pages:
                if len(kept.pages) >= _MOST:
                    kept.pages.clear()
                kept.pages[asked] = self._made(store, kept, *asked, now)
            return kept.pages[asked]

    def addresses(self) -> Iterator[str]:
        """Yield every address, for a copy of the whole."""
        with self._lock, Store.open(self._state) as store:
            told = self._reader.read(store, self._settings())
        handles = sorted(told.handles)
        yield from (BOARD, HISTORY, STYLE, FEED, *addresses(told, handles))
        yield from (SCRIPT,) if self._is_copy else ()
        yield from (f"{folder}{it.slug}.svg" for it in told.dependencies for folder in PUBLIC)
        yield from (f"{DEPENDENCIES}{it.slug}{_HTML}" for it in told.dependencies)
        yield from (f"{_FINDING}{it}{_HTML}" for it in handles)

    def _current(self, store: Store, now: datetime) -> _Kept:
        settings, state = self._settings(), (*store.last_changes(), now.replace(second=0, microsecond=0))
        if self._kept is None or self._kept.settings is not settings or self._kept.state != state:
            is_first = self._kept is None
            self._kept = _Kept(settings, state, self._reader.read(store, settings), {})
            if is_first:
                gc.freeze()  # so much lives as long as the process: the collector need not go over it again and again
        return self._kept

    def _made(self, store: Store, kept: _Kept, address: str, chosen: Filters, now: datetime) -> Page | None:
        told, settings = kept.standing, kept.settings
        if address == BOARD:
            frame = replace(_frame("", "board", kept, now), is_copy=self._is_copy)
            return _html(board(told, chosen, settings.pages, frame, self._lines))
        if address == HISTORY:
            return _html(_history(store, now - _LATELY, _frame("", "history", kept, now)))
        if address.startswith(API):
            return answer(address.removeprefix(API), {}, told, store)
        if address == FEED:
            body = feed.feed(store.events_since(now - _LATELY), told.at, settings.http.address or "")
            return Page(body=body.encode(errors="replace"), media_type=feed.MEDIA_TYPE)
        if address.startswith(_BADGE) and (it := told.dependency(_named(address, _BADGE, ".svg"))):
            return Page(body=badge.badge(it).encode(errors="replace"), media_type=badge.MEDIA_TYPE)
        if address.startswith(PICTURES) and (it := told.dependency(_named(address, PICTURES, ".svg"))):
            return Page(body=alone(drawings(settings, store, it), it).encode(errors="replace"), media_type=MEDIA_TYPE)
        if address.startswith(DEPENDENCIES) and (it := told.dependency(_named(address, DEPENDENCIES))):
            return _html(_dependency(store, settings, it, _frame("../", "", kept, now)))
        if address.startswith(_FINDING) and (key := told.handles.get(_named(address, _FINDING))):
            found = store.finding(key)
            return _html(_finding(store, kept, found, _frame("../", "", kept, now))) if found else None
        return None


def _dependency(store: Store, settings: Settings, it: Watched, frame: Frame) -> str:
    written = _judged(it)
    told = {upstream: remembered.arguments(settings, store, upstream, written) for upstream in it.upstreams}
    arguments = {pin: one for some, _ in told.values() for pin, one in some.items()}
    drawn = [(drawing, settings.pages(upstream)) for upstream, (_, drawing) in told.items()]
    wide, narrow = ("".join(svg(drawing, it, pages, width) for drawing, pages in drawn) for width in (WIDE, NARROW))
    pinned = {pin["commit"] for pin in it.pins if pin.get("commit")}
    ledger = {
        commit: held for upstream in it.upstreams for commit, held in store.ledger(upstream).items() if commit in pinned
    }
    said = "\n\n".join(filter(None, (words(drawing, it) for drawing, _ in drawn)))
    return dependency(it, arguments, wide, narrow, said, ledger, frame)


def _judged(it: Watched) -> tuple[Pin, ...]:
    """Return the pins that are as they were judged: what is argued of another one is about a commit of the past."""
    return tuple(pin for pin in it.written if pin.id not in it.moved)


def _finding(store: Store, kept: _Kept, it: Finding, frame: Frame) -> str:
    watched, concern = _watched(kept.standing, it), it.concern
    written = _judged(watched) if watched and concern.pin else ()
    told = remembered.arguments(kept.settings, store, concern.upstream or "", written)[0] if written else {}
    life = steps(store.events(it.key), store.about(it.key))
    return finding(it, told.get(concern.pin or ""), life, watched, frame)


def _frame(root: str, current: str, kept: _Kept, now: datetime) -> Frame:
    zone = kept.settings.schedule.timezone
    return Frame(root=root, current=current, at=kept.standing.at, now=now, zone=zone, version=_version())


@cache
def _version() -> str:
    return version("watcher")


def _history(store: Store, since: datetime, frame: Frame) -> str:
    found = weeks(store.events_since(since), store.moved_pins(since), store.moves_since(since), frame.zone)
    return history(found, since, frame)


def _html(text: str) -> Page:
    return Page(body=text.encode(errors="replace"), media_type="text/html; charset=utf-8")


def _named(address: str, folder: str, ending: str = _HTML) -> str:
    """Return what an address names in a folder; empty where it does not end as addresses there do."""
    return address.removeprefix(folder).removesuffix(ending) if address.endswith(ending) else ""


def _watched(told: Standing, it: Finding) -> Watched | None:
    pin, upstream = it.concern.pin, it.concern.upstream
    return next(
        (one for one in told.dependencies if pin in one.places or (not pin and upstream in one.upstreams)), None
    )
