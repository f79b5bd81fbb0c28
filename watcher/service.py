"""Watch for months: look at what is due, send what is owed, until told to stop.

What is due is asked of the store at every tick, so that a restart, a suspend or a clock that jumps neither skips nor
doubles anything. SIGTERM and SIGINT end the service, SIGHUP reads the configuration anew. A pass that is under way is
waited for a little and then abandoned: what it had not recorded is looked at again after the next start.
"""

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import NoReturn

import structlog
from apscheduler.executors.pool import ThreadPoolExecutor
from apscheduler.jobstores.base import JobLookupError
from apscheduler.schedulers.background import BackgroundScheduler
from apscheduler.triggers.interval import IntervalTrigger
from starlette.requests import Request
from starlette.responses import Response

from watcher import cycle, digesting, policy, rescuing, upkeep, wishes
from watcher.acting import Act, act
from watcher.channels.slack import API
from watcher.channels.socket import HOOKS, Buttons
from watcher.config import BumpWay, Settings, load
from watcher.deliver import channels, deliver, revealed
from watcher.due import due, is_over
from watcher.errors import ConfigError, DamagedError, WatcherError
from watcher.metrics import Pulse
from watcher.model import Pass
from watcher.process import clock_offset, only_one, signals
from watcher.report.text import safe
from watcher.selfcheck import damage_owed, self_check
from watcher.serving import Served
from watcher.showing import Door, shown
from watcher.site import Site
from watcher.store import Look, Store, damage
from watcher.systemd import notify, watchdog
from watcher.workers import ABOUT

_TICK = timedelta(seconds=15)
"""How often it is asked what is due, and the outbox is looked into."""
_REST = timedelta(minutes=1)
"""How long passes rest after one that failed."""
_DUTIES = timedelta(minutes=1)
"""How often it is asked whether a digest or a self-check is due."""
_DAY = timedelta(days=1)
_ALIVE = timedelta(seconds=20)
"""How often the scheduler gives a sign of life."""
_PATIENCE = 7.0
"""Seconds that a pass or a message under way has to end after we were told to stop."""
_DRIFT = 5.0
"""By how many seconds the clock must have been set."""
_KEPT = timedelta(days=30)
"""How long the answers of forges are kept."""
_WORKERS = "workers"
_WISHES = "wishes"
_CHECKED = "duty self-check"
_DRILLED = "duty rescue-drill"
_KEPT_UP = "duty upkeep"
_CONFIGURED = "duty configuration"


class Service:
    """The running service of one configuration."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._settings: Settings = load(path)
        self._stopping = threading.Event()
        self._looking, self._sending, self._caring = threading.Lock(), threading.Lock(), threading.Lock()
        self._proposing = threading.Lock()
        self._rests_until = 0.0
        self._told: dict[tuple[str, str], frozenset[str]] = {}
        self._log = structlog.get_logger()
        self._scheduler = BackgroundScheduler(timezone=UTC, executors={"default": ThreadPoolExecutor(6)})
        self._pulse = Pulse(every=self._settings.schedule.poll, channels=channels(self._settings).by_name)
        self._buttons: Buttons | None = None

    def run(self) -> None:
        """Watch until a signal says stop; raise UsageError where another service has the same state, or the address."""
        settings = self._settings
        with (
            only_one(settings.state),
            Served(settings.http.listen, settings.state, self._pulse, self._pages()) as served,
        ):
            told = signals(signal.SIGHUP, signal.SIGTERM, signal.SIGINT)
            self._log.info("started", config=str(self._path), pid=os.getpid(), http=str(served.address), **self._plan())
            self._verify()
            self._configure()
            self._schedule()
            self._scheduler.start()
            notify("READY=1")
            self._wait(told)
            notify("STOPPING=1")
            self._stop()

    def _pages(self) -> Callable[[Request], Response]:
        """Return what shows the pages, in the configuration as it is at that moment."""
        http = self._settings.http
        door = Door(
            host=http.listen.host,
            token=revealed(http.token) if http.token else None,
            header=http.trusted_header,
            proxies=http.proxies,
            hosts=http.hosts or (),
            is_public=http.public,
        )
        return shown(Site(self._settings.state, lambda: self._settings, _now), door)

    def _verify(self) -> None:
        """Read all of the database; a damaged one is set aside when it is opened next."""
        with suppress(DamagedError), Store.open(self._settings.state) as store:
            store.verify()

    def _wait(self, told: Iterator[int | None]) -> None:
        """Do what signals say until one says stop; where the clock was set, the scheduler's plan is made anew.

        It waits for times of day: an hour that the clock is set back would be an hour without a look.
        """
        offset = clock_offset()
        for number in told:
            if number in {signal.SIGTERM, signal.SIGINT}:
                return
            if number == signal.SIGHUP:
                self._reload()
            elif abs(clock_offset() - offset) > _DRIFT:
                self._log.info("the clock was set", seconds=round(clock_offset() - offset))
                self._schedule()
            offset = clock_offset()

    def _schedule(self) -> None:
        tick = min(_TICK, self._settings.schedule.poll)
        jobs: list[tuple[str, Callable[[], None], timedelta]] = [
            ("look", self._look, tick),
            ("send", self._send, tick),
            (_WISHES, self._grant, tick),
            ("duties", self._do_duties, min(_DUTIES, 4 * tick)),
            ("alive", self._live, min(_ALIVE, timedelta(seconds=watchdog() or _ALIVE.total_seconds()))),
        ]
        options = {"replace_existing": True, "coalesce": True, "misfire_grace_time": None}
        for name, work, every in jobs:
            trigger = IntervalTrigger(seconds=max(1, int(every.total_seconds())), timezone=UTC)
            # A wish that comes while others are granted waits for its turn, and not for the next tick.
            most = 2 if name == _WISHES else 1
            self._scheduler.add_job(work, trigger, id=name, next_run_time=_now(), max_instances=most, **options)

    def _stop(self) -> NoReturn:
        self._stopping.set()
        self._log.info("stopping")
        self._scheduler.shutdown(wait=False)
        end = time.monotonic() + _PATIENCE
        if self._buttons:
            self._buttons.stop(timeout=2.0)
        works = (self._looking, self._sending, self._caring, self._proposing)
        is_idle = all(work.acquire(timeout=max(0.0, end - time.monotonic())) for work in works)
        self._log.info("stopped", abandoned=not is_idle)
        sys.stderr.flush()
        # Whatever still runs, or was about to begin, is done anew after the next start; nobody waits for it here.
        os._exit(0)

    # --- jobs --------------------------------------------------------------------------------------------------------

    def _live(self) -> None:
        self._pulse.ticked()
        notify("WATCHDOG=1")

    def _look(self) -> None:
        """Make a pass over what is due, if anything is, and send what it owes."""
        if self._stopping.is_set() or time.monotonic() < self._rests_until:
            return
        told = self._telling("pass failed", self._pass_failed)
        with self._looking, told, Store.open(self._settings.state) as store:
            wanted = due(self._settings, store, _now())
            if wanted.is_nothing:
                self._pulse.idled()
                return
            self._pulse.began()
            silent = store.failures()
            found = cycle.check(self._settings, store, now=_now(), due=wanted)
            self._pulse.ended(observed=len(found.observed), unobserved=len(found.unobserved))
            self._tell(found)
            self._tell_workers(found)
            self._tell_silence(silent.keys(), store.failures().keys(), found)
        self._send()

    def _pass_failed(self, reason: str) -> None:
        self._pulse.failed(reason)
        self._rests_until = time.monotonic() + _REST.total_seconds()

    def _send(self) -> None:
        """Send what is due; a trouble is told when it is new."""
        ways = channels(self._settings)
        if not ways.by_name or self._stopping.is_set():
            return
        with self._sending, self._telling("sending failed"):
            with Store.open(self._settings.state) as store:
                troubles = deliver(store, ways, _now())
            self._warn("not delivered", troubles)

    def _do_duties(self) -> None:
        """Owe the digest when its time has come, and look after ourselves once a day."""
        if self._stopping.is_set():
            return
        with self._caring, self._telling("duties failed"), Store.open(self._settings.state) as store:
            store.owe(digesting.owed(self._settings, store, _now()), _now())
            store.owe(damage_owed(self._settings), _now())
            self._warn("database", damage.aside(self._settings.state))
            self._check(store, _CHECKED, lambda: self_check(self._settings, store))
            if store.readings():
                self._check(store, _DRILLED, lambda: rescuing.drill(self._settings, store, now=_now()))
            self._check(store, _KEPT_UP, lambda: upkeep.upkeep(self._settings, store, now=_now()))
            store.forget_replies(_now() - _KEPT)
        self._propose()

    def _check(self, store: Store, name: str, check: Callable[[], tuple[str, ...]]) -> None:
        """Look for troubles once a day, and tell those that are new; /healthz shows them until they are gone."""
        now = _now()
        if self._stopping.is_set() or not is_over(store.looks().get(name), _DAY, name, now):
            return
        troubles = check()
        with store.atomic():
            store.record_looks({name: Look(at=now)})
            store.record_standings({name: {"troubles": [*troubles]}}, now)
        self._warn(name.removeprefix("duty "), troubles)

    def _propose(self) -> None:
        """Propose the bumps that the configuration asks for."""
        with self._telling("proposing failed"), Store.open(self._settings.state) as store:
            for upstream in policy.wanted(self._settings, store, _now()):
                if self._stopping.is_set():
                    return
                with self._proposing:
                    done, troubles = policy.propose(self._settings, store, upstream, _now())
                for it in done:
                    self._log.info("proposed", outcome=str(it.outcome), what=safe(it.said), url=safe(it.url))
                self._warn("not proposed", troubles, about=upstream)

    def _grant(self) -> None:
        """Propose what people asked for, and send the news of it: one after the other, so that none is made twice."""
        if self._stopping.is_set():
            return
        with self._proposing, self._telling("not proposed"), Store.open(self._settings.state) as store:
            asked = wishes.waiting(store)
            for wish in asked:
                if self._stopping.is_set():
                    return
                for said, url in wishes.grant(self._settings, store, wish, _now()):
                    self._log.info("asked for", by=wish.by, what=safe(said), url=safe(url))
        if asked:
            self._send()

    def _clicked(self, what: str, handle: str, by: str) -> str:
        """Do what a button says, and send the news of it; return what to tell the person, where there is more."""
        if what in set(BumpWay):
            return self._asked(BumpWay(what), handle, by)
        with Store.open(self._settings.state) as store:
            event = act(store, self._settings, handle, Act(what), _now(), by=by)
        self._log.info(str(event.kind), what=safe(event.finding.concern.headline), by=by)
        self._send()
        return ""

    def _asked(self, way: BumpWay, handle: str, by: str) -> str:
        """Take up the wish for a proposal: it takes longer than other clicks should have to wait for it."""
        with Store.open(self._settings.state) as store:
            words = wishes.ask(store, self._settings, handle, way, _now(), by=by)
        with suppress(JobLookupError):  # the service ends: its next start goes on with what was asked for
            self._scheduler.modify_job(_WISHES, next_run_time=_now())
        return words

    @contextmanager
    def _telling(self, what: str, also: Callable[[str], None] = lambda _: None) -> Iterator[None]:
        """Let whatever goes wrong be told, so that it is tried again when it is due next."""
        try:
            yield
        except WatcherError as error:
            self._log.error(what, reason=safe(str(error)))
            also(str(error))
        except Exception as error:  # noqa: BLE001 - told with its trace
            self._log.exception(what)
            also(type(error).__name__)

    # --- configuration -----------------------------------------------------------------------------------------------

    def _configure(self) -> None:
        """Go by the configuration: one that changed since it was last used makes everything due."""
        digest = sha256(self._path.read_bytes()).hexdigest()
        with Store.open(self._settings.state) as store, store.atomic():
            if store.standings("duty").get("configuration", {}).get("digest") != digest:
                self._make_due(store)
                store.record_standings({_CONFIGURED: {"digest": digest}}, _now())
        self._listen()

    @staticmethod
    def _make_due(store: Store) -> None:
        store.forget_looks(subject for subject in store.looks() if subject.startswith(("upstream ", "downstream ")))

    def _listen(self) -> None:
        """Listen for clicks, where there is a token for it."""
        if self._buttons:
            self._buttons.stop(timeout=2.0)
            self._buttons = None
        slack = self._settings.slack
        if slack and slack.token and slack.app_token:
            self._buttons = Buttons(
                token=revealed(slack.token),
                app_token=revealed(slack.app_token),
                on_click=self._clicked,
                trouble=lambda reason: self._log.warning("buttons", reason=safe(reason)),
                people=slack.people,
                api=self._settings.address(API),
                hooks=self._settings.address(HOOKS),
            )
            self._buttons.start()

    def _reload(self) -> None:
        """Take up a changed configuration, and look at everything anew; where it is wrong, the old one goes on."""
        refused = "configuration refused, the old one goes on"
        try:
            settings = load(self._path)
        except ConfigError as error:
            self._log.error(refused, reason=str(error))
            return
        for what, old, new in (
            ("state folder", self._settings.state, settings.state),
            ("address for http", self._settings.http, settings.http),
        ):
            if old != new:
                self._log.error(refused, reason=f"{self._path}: another {what} needs a restart")
                return
        self._settings = settings
        self._pulse.expect(every=settings.schedule.poll, channels=channels(settings).by_name)
        with self._telling("configuration not recorded"):
            with Store.open(settings.state) as store:
                self._make_due(store)
            self._configure()
        self._schedule()
        self._log.info("configuration read", **self._plan())

    # --- the log -----------------------------------------------------------------------------------------------------

    def _tell(self, found: Pass) -> None:
        """Write a line for each thing that happened; a pass in which nothing did writes none."""
        for event in found.events:
            concern = event.finding.concern
            self._log.info(
                str(event.kind), kind=str(concern.kind), severity=str(concern.severity), what=safe(concern.headline)
            )

    def _tell_silence(self, before: Iterable[str], after: Iterable[str], found: Pass) -> None:
        """Write a line for each upstream that fell silent, or answers again."""
        reasons = {failure.upstream: failure.reason for failure in found.unobserved}
        for upstream in sorted({*after} - {*before}):
            self._log.warning("unobserved", upstream=safe(upstream), reason=safe(reasons.get(upstream, "")))
        for upstream in sorted(({*before} - {*after}) & found.observed):
            self._log.info("observed again", upstream=safe(upstream))

    def _tell_workers(self, found: Pass) -> None:
        """Write a line where workers cannot be had, and one when they are back; a pass that asked none says nothing."""
        troubles = [line.removeprefix(ABOUT) for line in found.warnings if line.startswith(ABOUT)]
        if not troubles and self._told.get((_WORKERS, "")) and (found.observed or found.unobserved):
            self._log.info("workers are back")
        if troubles or found.observed or found.unobserved:
            self._warn(_WORKERS, troubles)

    def _warn(self, what: str, troubles: Iterable[str], about: str = "") -> None:
        """Write a line for each trouble that is new, of all or of the one thing that it is about."""
        now = frozenset(troubles)
        more = {"about": safe(about)} if about else {}
        for trouble in sorted(now - self._told.get((what, about), frozenset())):
            self._log.warning(what, reason=safe(trouble), **more)
        self._told[what, about] = now

    def _plan(self) -> dict[str, str]:
        return {
            "poll": str(self._settings.schedule.poll),
            "state": str(self._settings.state),
            "channels": ", ".join(channels(self._settings).by_name) or "none",
        }


def _now() -> datetime:
    return datetime.now(UTC)
