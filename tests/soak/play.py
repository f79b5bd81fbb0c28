"""Play a script on its stage, and hold what the service knows against the replay, again and again."""

import time
from collections import Counter, deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime

from tests.soak.replay import Moment, Wrong, commit_of, doubted, past, repaired, standing, without_drift
from tests.soak.script import MAIN, Broken, Bumped, Cleaned, Entry, Hidden, Killed, Pin, Redrawn, Refs
from tests.soak.sketch import picture
from tests.soak.stage import Stage, now
from watcher.model import Event, EventKind, Finding, Oid, State, oid

_BEAT = 0.05
"""Seconds between two looks at a condition."""
_SILENCE = {"upstream-gone", "upstream-unobserved"}
_HAPPENED = {"branch-rewound", "tag-moved"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Trouble:
    """Something that is not as the replay says."""

    upstream: str
    what: str
    when: str
    picture: str = ""

    def __str__(self) -> str:
        return f"{self.when} {self.upstream}: {self.what}\n{self.picture}"


@dataclass
class Track:
    """What happened to one upstream so far."""

    waiting: deque[Entry]
    since: datetime
    """When the present moment began."""
    pinned_since: datetime
    """When our own files were last changed."""
    refs: Refs
    pins: tuple[Pin, ...]
    fault: str | None = None
    is_read: bool = False
    """Somebody judged the pins as they are now."""
    is_held: bool = False
    """What happened last is to be seen before anything else happens."""
    held_since: float = 0.0
    moments: list[Moment] = field(default_factory=list)
    kept: set[str] = field(default_factory=set)
    """The commits that somebody saw pinned while a ref held them."""
    thrown_away: set[str] = field(default_factory=set)
    """The commits that the server does not have any more."""

    @property
    def doubtful(self) -> tuple[Pin, ...]:
        """Return the pins whose commit was thrown away, maybe before anybody kept it."""
        lost = self.thrown_away - self.kept
        return tuple(pin for pin in self.pins if commit_of(self.refs, pin) in lost)


class Play:
    """One run of a script."""

    def __init__(self, on: Stage, *, speed: float, patience: float) -> None:
        """Take how many scripted seconds go by in one real one, and how long to wait for what must come, in seconds."""
        self.on, self._speed, self._patience = on, speed, patience
        self.counts: Counter[str] = Counter()
        self.troubles: list[Trouble] = []
        self.tracks: dict[str, Track] = {}
        self._read_since = now()
        """Since when every downstream can be read."""

    # --- the run -----------------------------------------------------------------------------------------------------

    def run(self) -> None:
        """Play everything; afterwards all is well with the servers, and everything was looked at and sent."""
        begun = now()
        for name, upstream in self.on.script.upstreams.items():
            mine = deque(it for it in self.on.script.entries if getattr(it.happening, "upstream", None) == name)
            self.tracks[name] = Track(
                waiting=mine, since=begun, pinned_since=begun, refs=upstream.refs, pins=upstream.pins
            )
        others = deque(it for it in self.on.script.entries if not hasattr(it.happening, "upstream"))
        self.on.service.start()
        self.until("a first look", lambda: all(self._is_seen(name) for name in self.tracks))
        self.on.service.look()
        start = time.monotonic()
        while others or any(track.waiting for track in self.tracks.values()):
            scripted = (time.monotonic() - start) * self._speed
            while others and others[0].at <= scripted and self._may(others[0]):
                self._happen(others.popleft())
            for name, track in self.tracks.items():
                self._go_on(name, track, scripted)
            self.on.service.look()
            time.sleep(_BEAT)
        self._settle()

    def until(self, what: str, condition: Callable[[], bool]) -> None:
        """Wait until a condition holds; fail when it takes too long."""
        end = time.monotonic() + self._patience
        while not condition():
            if time.monotonic() > end:
                raise AssertionError(f"{what} did not come within {self._patience:g} s")
            self.on.service.look()
            time.sleep(_BEAT)

    def _go_on(self, name: str, track: Track, scripted: float) -> None:
        """Let the next thing happen to an upstream, if it is time."""
        if track.is_held and not self._is_noticed(name, track):
            if time.monotonic() - track.held_since < self._patience:
                return
            self._trouble(name, "nobody noticed what happened last")
        track.is_held = False
        if not track.waiting or track.waiting[0].at > scripted:
            return
        entry = track.waiting.popleft()
        self.counts[type(entry.happening).__name__] += 1
        self._close(name, track)
        self.on.happen(entry.happening)
        self._open(track, entry)

    def _may(self, entry: Entry) -> bool:
        """Answer whether something can happen: a service that did not begin yet is not killed."""
        return not isinstance(entry.happening, Killed) or self.on.service.is_at_work()

    def _happen(self, entry: Entry) -> None:
        """Let something happen that is no single upstream's."""
        self.counts[type(entry.happening).__name__] += 1
        hidden = entry.happening.downstream if isinstance(entry.happening, Hidden) else ""
        mine = {name: it for name, it in self.tracks.items() if hidden in {pin.downstream for pin in it.pins}}
        for name, track in mine.items():
            self._close(name, track)
        self.on.happen(entry.happening)
        if hidden:
            self._read_since = now()
        for track in mine.values():
            track.since = track.pinned_since = now()
            track.is_read = track.is_held = False

    def _settle(self) -> None:
        """End all trouble, and wait until everything was looked at and sent."""
        for trap in self.on.traps.values():
            trap.clear()
        self.on.heal_slack()
        self.on.service.reload()
        self.until("a last look", lambda: all(self._is_seen(name) for name in self.tracks))
        self.until("an empty outbox", lambda: not [it for it in self.on.store.waiting() if _is_due(it.not_before)])
        opened: dict[str, list[Event]] = {}
        for event in self.on.store.events():
            if event.kind is EventKind.OPENED and event.finding.concern.kind not in _HAPPENED | _SILENCE:
                opened.setdefault(event.finding.concern.upstream or "", []).append(event)
        for name, track in self.tracks.items():
            self._close(name, track)
            self._judge_the_past(name, track)
            self._judge_what_was_opened(name, track, opened.get(self.on.address(name), []))

    # --- one moment after the other ----------------------------------------------------------------------------------

    def _open(self, track: Track, entry: Entry) -> None:
        match entry.happening:
            case Redrawn(refs=refs):
                # Refs are deleted before others are moved: for an instant that is all there is.
                between = {name: tip for name, tip in track.refs.items() if name in refs}
                track.moments.append(Moment(refs={**refs, **between}, pins=track.pins, is_seen=False))
                track.refs = refs
                track.thrown_away -= self._reached(track, entry.happening.upstream)
            case Cleaned(upstream=name):
                track.thrown_away |= self.on.oids[name].keys() - self._reached(track, name)
            case Broken(fault=fault):
                track.fault = fault
            case Bumped(pin=pin):
                track.pins = tuple(pin if it.id == pin.id else it for it in track.pins)
                track.pinned_since, track.is_read = now(), False
            case other:
                raise TypeError(other)
        track.since = now()
        can_be_seen = self._hidden(track) is None and (track.fault is None or isinstance(entry.happening, Broken))
        track.is_held, track.held_since = entry.waits and can_be_seen, time.monotonic()

    def _reached(self, track: Track, name: str) -> set[str]:
        upstream = self.on.script.upstreams[name]
        return {commit for tip in track.refs.values() for commit in upstream.line(tip)}

    def _hidden(self, track: Track) -> str | None:
        """Return the downstream of an upstream's pins that cannot be read now."""
        return next((pin.downstream for pin in track.pins if pin.downstream in self.on.hidden), None)

    def _close(self, name: str, track: Track) -> None:
        """End a moment: hold what is known of the upstream against what is true, if somebody looked."""
        hidden = self._hidden(track)
        is_seen = track.fault is None and hidden is None and self._is_seen(name)
        moment = Moment(refs=track.refs, pins=track.pins, is_seen=is_seen, doubtful=track.doubtful)
        track.moments.append(moment)
        self.counts["moments"] += 1
        if is_seen:
            self.counts["moments compared"] += 1
            self._judge(name, track)
            pinned = {commit for pin in track.pins if (commit := commit_of(track.refs, pin))}
            track.kept |= pinned & self._reached(track, name)
        if track.fault or hidden:
            self._judge_silence(name, track, hidden)

    def _is_seen(self, name: str) -> bool:
        """Answer whether a pass that began in this moment, with the pins of this moment, is on the disk."""
        track, seen = self.tracks[name], self.on.store.last_seen(self.on.address(name))
        if seen is None or seen <= track.since:
            return False
        looks = self.on.store.looks()
        read = [looks[it].at for it in {f"downstream {pin.downstream}" for pin in track.pins} if it in looks]
        track.is_read = track.is_read or all(track.pinned_since < at <= seen for at in read)
        return track.is_read

    def _is_noticed(self, name: str, track: Track) -> bool:
        """Answer whether somebody saw what happened last; of a repository that is gone: whether that was told."""
        if track.fault is None:
            return self._is_seen(name)
        if track.fault == "gone":
            return "upstream-gone" in {it.concern.kind for it in self._live(name)}
        return self.on.address(name) in self.on.store.failures()

    # --- the comparisons ---------------------------------------------------------------------------------------------

    def _live(self, name: str) -> list[Finding]:
        mine = (it for it in self.on.store.findings() if it.concern.upstream == self.on.address(name))
        return [it for it in mine if it.state is not State.RESOLVED]

    def _judge(self, name: str, track: Track) -> None:
        upstream = self.on.script.upstreams[name]
        expected = doubted(standing(upstream, track.refs, track.pins), track.doubtful)
        seen = self.on.store.last_seen(self.on.address(name))
        live = self._live(name)
        found = {self._wrong(name, it) for it in live if it.concern.kind not in _HAPPENED}
        if self.on.hidden or seen is None or seen < self._read_since:
            expected = without_drift(expected)
            found = {it for it in found if it.kind != "variant-drift"}
        for wrong in sorted(expected.missing(found)):
            self._trouble(name, f"not found: {wrong}")
        for wrong in sorted(expected.wrongly(found)):
            self._trouble(name, f"found though it is not so: {wrong}")
        self._judge_targets(name, track, live)

    def _judge_targets(self, name: str, track: Track, live: Iterable[Finding]) -> None:
        """Hold that the smallest commit with a fix is the fix itself, where main has it ahead of the pin."""
        upstream, pins = self.on.script.upstreams[name], {pin.id: pin for pin in track.pins}
        for finding in live:
            if finding.concern.kind != "fix-available":
                continue
            landing = self.on.names[name][_oid_in(finding)]
            pin = pins[finding.concern.pin or ""]
            commit = track.refs.get(pin.ref, pin.ref)
            self.counts["targets"] += 1
            target = self.on.names[name].get(finding.concern.target) if finding.concern.target else None
            is_ahead = commit in upstream.line(landing) and landing in upstream.line(track.refs[MAIN])
            if is_ahead and target != landing:
                self._trouble(name, f"{pin.id}: {target} offered for {landing}")

    def _judge_silence(self, name: str, track: Track, hidden: str | None) -> None:
        """Hold that nothing opens and nothing ends while nobody can look: at the upstream, or at our own files.

        A pass in which a downstream was not due goes by what was read of it last, so only one that tried counts.
        """
        self.counts["silences compared"] += 1
        address = self.on.address(name)
        tried = self.on.store.looks().get(f"downstream {hidden}")
        for event in self.on.store.events_since(track.since):
            concern = event.finding.concern
            is_told = event.kind in {EventKind.OPENED, EventKind.RESOLVED, EventKind.REOPENED, EventKind.CHANGED}
            is_blind = concern.kind == "variant-drift" if concern.pin is None else concern.pin.startswith(f"{hidden}:")
            is_dark = track.fault is not None and concern.kind not in {*_SILENCE, "pin-floating"}
            is_unread = hidden is not None and tried is not None and event.at == tried.at
            if concern.upstream == address and is_told and (is_dark or (is_blind and is_unread)):
                self._trouble(name, f"{event.kind} while {track.fault or 'unread'}: {concern.key}")

    def _judge_the_past(self, name: str, track: Track) -> None:
        upstream = self.on.script.upstreams[name]
        expected, forced = past(upstream, track.moments)
        live = self._live(name)
        moved = {self._wrong(name, it) for it in live if it.concern.kind == "tag-moved"}
        for wrong in sorted(expected.missing(moved)):
            self._trouble(name, f"not found: {wrong}")
        for wrong in sorted(expected.wrongly(moved)):
            self._trouble(name, f"found though it is not so: {wrong}")
        count = sum(it.concern.kind == "branch-rewound" for it in live)
        self.counts["rewound"] += count
        if count not in forced:
            self._trouble(name, f"{count} times branch-rewound, expected {forced}")

    def _judge_what_was_opened(self, name: str, track: Track, opened: Iterable[Event]) -> None:
        """Hold that nothing was ever told that was not so at any moment."""
        upstream = self.on.script.upstreams[name]
        moments = {(tuple(sorted(it.refs.items())), it.pins, it.doubtful): it for it in track.moments}
        expected = [doubted(standing(upstream, it.refs, it.pins), it.doubtful) for it in moments.values()]
        possible = {wrong for it in expected for wrong in it.must | it.may}
        for event in opened:
            self.counts["opened"] += 1
            if (wrong := self._wrong(name, event.finding)) not in possible:
                self._trouble(name, f"opened at {event.at:%H:%M:%S} though it never was so: {wrong}")

    def _wrong(self, name: str, finding: Finding) -> Wrong:
        """Return a finding in the words of the replay."""
        concern, upstream = finding.concern, self.on.script.upstreams[name]
        about, what = concern.pin or name, ""
        match concern.kind.value:
            case "fix-available":
                what = "".join(repaired(upstream, [self.on.names[name][_oid_in(finding)]]))
            case "tag-moved":
                what = self.on.names[name][_oid_in(finding)]
            case "variant-drift":
                about = name.rpartition("/")[2]
        return Wrong(concern.kind.value, about, what)

    def _trouble(self, name: str, what: str) -> None:
        track = self.tracks[name]
        drawn = picture(self.on.script.upstreams[name].parents, track.refs)
        stands = f"{drawn}refs {dict(track.refs)}\npins {[(pin.id, pin.ref) for pin in track.pins]}"
        self.troubles.append(Trouble(upstream=name, what=what, when=f"{now():%H:%M:%S}", picture=stands))


def _oid_in(finding: Finding) -> Oid:
    """Return the commit with which a key ends."""
    return oid(finding.key.rpartition(":")[2])


def _is_due(not_before: datetime | None) -> bool:
    return not_before is None or not_before <= now()
