"""Make up a script from a seed: what the upstreams are, and what happens to them, to the service and to Slack.

The same seed and measure give the same script.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from tests.soak.script import (
    KEEP,
    MAIN,
    PARTS,
    TAG,
    TOPIC,
    Broken,
    Bumped,
    Cleaned,
    Entry,
    Happening,
    Hidden,
    Killed,
    Pin,
    Redrawn,
    Script,
    SlackTrouble,
    Upstream,
)

_KILLS = ("sending", "fetching", "now")


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """How much of everything."""

    upstreams: int
    seconds: float
    """Scripted length."""
    events: float
    """How many things happen to an upstream, on average."""
    kills: int
    slack: tuple[str, ...] = ("limited", "busy")
    """The troubles that Slack has, each as often as there are kills in a third of the script."""
    silent: bool = True
    """Whether an upstream may take a request and never answer, now and then: it costs a pass a minute and more."""
    waits: float = 0.3
    """How many of the things that happen are waited for."""


def write(seed: int, measure: Measure) -> Script:
    """Return the script of a seed."""
    rng = random.Random(seed)  # noqa: S311 - a story, no secret
    tales = [_Tale(f"acme/lib{number:03}", rng, measure) for number in range(measure.upstreams)]
    upstreams: dict[str, Upstream] = {}
    entries: list[Entry] = []
    for tale in tales:
        upstream, told = tale.tell()
        upstreams[upstream.name] = upstream
        entries += told
    entries += _to_the_service(rng, measure)
    return Script(seed=seed, upstreams=upstreams, entries=tuple(sorted(entries, key=lambda entry: entry.at)))


@dataclass
class _Tale:
    """Make up what happens to one upstream."""

    name: str
    rng: random.Random
    measure: Measure
    parents: dict[str, str | None] = field(default_factory=dict)
    repairs: dict[str, str] = field(default_factory=dict)
    refs: dict[str, str] = field(default_factory=dict)
    pins: list[Pin] = field(default_factory=list)
    entries: list[Entry] = field(default_factory=list)
    now: float = 0.0
    away: dict[str, str] | None = None
    """The refs before a stranger took the address."""
    old: str | None = None
    """The tip of main before it was forced."""
    is_broken: bool = False

    def tell(self) -> tuple[Upstream, list[Entry]]:
        """Return the upstream and what happens to it."""
        self._begin()
        refs, pins = dict(self.refs), tuple(self.pins)
        end = self.measure.seconds
        pause = end / (self.measure.events + 1)
        self.now = self.rng.uniform(0, pause)
        while self.now < end * 0.9:
            self._something()
            self.now += self.rng.uniform(0.3, 1.7) * pause
        if self.is_broken:
            self.now = end * self.rng.uniform(0.9, 1.0)
            self._say(Broken(upstream=self.name, fault=None))
        upstream = Upstream(name=self.name, parents=self.parents, repairs=self.repairs, refs=refs, pins=pins)
        return upstream, self.entries

    # --- the beginning ---

    def _begin(self) -> None:
        tip = self._commit("a", None)
        for _ in range(self.rng.randint(2, 4)):
            tip = self._commit("c", tip)
        line = [tip]
        while (parent := self.parents[line[-1]]) is not None:
            line.append(parent)
        if self.rng.random() < 0.3:
            tip = self._commit("f", tip, repairs=self.rng.choice(PARTS))
        self.refs[MAIN] = tip
        choice = self.rng.random()
        pinned = self.rng.choice(line[:-1])
        if choice < 0.3:
            self._pin("images", "cuda", pinned)
        elif choice < 0.65:
            self._pin("images", "cuda", pinned)
            self._pin("images", "rocm", pinned)
        elif choice < 0.8:
            self._pin("images", "cuda", pinned)
            self._pin("serving", "rocm", self.rng.choice(line[:-1]))
        elif choice < 0.9:
            self.refs[TAG] = pinned
            self._pin("images", "cuda", TAG)
        else:
            self._pin("images", "cuda", pinned)
            self._pin("images", "rocm", MAIN)
        if self.rng.random() < 0.2:
            self.refs[KEEP] = line[0]

    def _pin(self, downstream: str, variant: str, ref: str) -> None:
        self.pins.append(Pin(upstream=self.name, downstream=downstream, variant=variant, ref=ref))

    def _commit(self, letter: str, parent: str | None, repairs: str | None = None) -> str:
        name = f"{letter}{len(self.parents):04}"
        self.parents[name] = parent
        if repairs:
            self.repairs[name] = repairs
        return name

    # --- one thing after the other ---

    def _something(self) -> None:
        if self.is_broken:
            self._say(Broken(upstream=self.name, fault=None))
            self.is_broken = False
            return
        choices = {
            self._noise: 2,
            self._topic: 2,
            self._fix: 5,
            self._force: 3,
            self._come_back: 6 if self.old else 0,
            self._tag: 1,
            self._keep: 1,
            self._break: 3,
            self._bump: 4,
            self._clean: 2,
            self._stranger: 1,
        }
        if self.away:
            choices = {self._stranger: 2, self._break: 1}
        [act] = self.rng.choices(list(choices), list(choices.values()))
        act()

    def _say(self, happening: Happening) -> None:
        waits = self.rng.random() < self.measure.waits
        self.entries.append(Entry(at=self.now, happening=happening, waits=waits))

    def _redraw(self, what: str, refs: Mapping[str, str | None]) -> None:
        self.refs = {name: tip for name, tip in {**self.refs, **refs}.items() if tip is not None}
        self._say(Redrawn(upstream=self.name, what=what, refs=dict(self.refs)))

    def _line(self) -> list[str]:
        line = [self.refs[MAIN]]
        while (parent := self.parents[line[-1]]) is not None:
            line.append(parent)
        return line

    def _noise(self) -> None:
        self._redraw("noise", {MAIN: self._commit("c", self.refs[MAIN])})

    def _topic(self) -> None:
        """Let somebody begin, go on with or drop a proposal; even a repair there is none yet."""
        if TOPIC in self.refs and self.rng.random() < 0.5:
            self._redraw("topic deleted", {TOPIC: None})
            return
        repairs = self.rng.choice(PARTS) if self.rng.random() < 0.3 else None
        self._redraw("topic", {TOPIC: self._commit("t", self.refs.get(TOPIC, self.refs[MAIN]), repairs)})

    def _fix(self) -> None:
        repaired = {self.repairs.get(commit) for commit in self._line()}
        broken = [part for part in PARTS if part not in repaired]
        if not broken:
            self._noise()
            return
        fix = self._commit("f", self.refs[MAIN], repairs=self.rng.choice(broken))
        tip = self._commit("c", fix) if self.rng.random() < 0.3 else fix
        self._redraw("fix", {MAIN: tip})

    def _force(self) -> None:
        line = self._line()
        if len(line) < 3:
            self._noise()
            return
        fork = self.rng.choice(line[1:])
        self.old = self.old or self.refs[MAIN]
        self._redraw("force", {MAIN: self._commit("r", fork)})

    def _come_back(self) -> None:
        self._redraw("come back", {MAIN: self.old})
        self.old = None

    def _tag(self) -> None:
        """Make or move a tag, or delete it."""
        if TAG in self.refs and self.rng.random() < 0.5:
            self._redraw("tag deleted", {TAG: None})
        else:
            self._redraw("tag", {TAG: self.rng.choice(self._line())})

    def _clean(self) -> None:
        self._say(Cleaned(upstream=self.name))

    def _keep(self) -> None:
        if KEEP in self.refs:
            self._redraw("branch deleted", {KEEP: None})
        else:
            self._redraw("branch", {KEEP: self.old or self.refs[MAIN]})

    def _break(self) -> None:
        faults = {"gone": 40, "busy": 30, "limited": 10, "cut": 20, "silent": 1 if self.measure.silent else 0}
        [fault] = self.rng.choices(list(faults), list(faults.values()))
        self._say(Broken(upstream=self.name, fault=fault))
        self.is_broken = True

    def _bump(self) -> None:
        number = self.rng.randrange(len(self.pins))
        pin = self.pins[number]
        ref = self.refs[MAIN] if self.rng.random() < 0.7 else self.rng.choice(self._line()[:3])
        if ref == pin.ref or not ref:
            self._noise()
            return
        self.pins[number] = replace(pin, ref=ref)
        self._say(Bumped(upstream=self.name, pin=self.pins[number]))

    def _stranger(self) -> None:
        """Give the address to another repository, or back to its owner."""
        if self.away:
            refs, self.away = self.away, None
            self.refs = {}
            self._redraw("owner back", refs)
            return
        self.away = dict(self.refs)
        self.refs = {}
        self._redraw("stranger", {MAIN: self._commit("s", None)})


def _to_the_service(rng: random.Random, measure: Measure) -> Sequence[Entry]:
    """Return what happens to the service itself and to Slack."""
    end, pause = measure.seconds, measure.seconds * 0.95 / max(1, measure.kills)
    kills = [
        Entry(
            at=(number + rng.uniform(0.2, 0.8)) * pause, happening=Killed(group=number % 4 > 1, when=_KILLS[number % 3])
        )
        for number in range(measure.kills)
    ]
    troubles = [
        Entry(
            at=rng.uniform(0.1, 0.8) * end,
            happening=SlackTrouble(fault=fault, times=rng.randint(1, 2) if fault == "limited" else 1),
        )
        for fault in measure.slack
        for _ in range(max(1, measure.kills // 3))
    ]
    hidden = [
        Entry(at=(start + 0.05 * is_back) * end, happening=Hidden(downstream=name, is_back=is_back == 1))
        for name, start in (("images", rng.uniform(0.2, 0.4)), ("serving", rng.uniform(0.4, 0.6)))
        for is_back in (0, 1)
    ]
    return [*kills, *troubles, *hidden]
