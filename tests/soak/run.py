"""Run the soak: `python -m tests.soak.run --seed 1 --upstreams 200 --minutes 60 --speed 6`.

The script lasts `--minutes`; `--speed` of its seconds go by in one real second, or fewer where it waits for the service
to see something. The service itself runs at real speed and looks as often as it can. Exits with 1 where anything is not
as the replay says.
"""

import argparse
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from tests.soak.play import Play, Trouble
from tests.soak.script import Script
from tests.soak.service import Weight
from tests.soak.stage import stage
from tests.soak.tale import Measure, write
from tests.soak.told import Told, told


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a soak showed."""

    script: Script
    counts: Counter[str]
    troubles: tuple[Trouble, ...]
    told: Told
    log: Counter[str]
    """How often the service said what."""
    wrong_in_log: tuple[str, ...]
    lives: tuple[tuple[Weight, Weight], ...]
    ended: tuple[int, float]
    """Exit status after SIGTERM, and the seconds until then."""
    seconds: float

    @property
    def failures(self) -> tuple[str, ...]:
        """Return everything that is not as it should be."""
        status, seconds = self.ended
        unclean = [f"SIGTERM: exit status {status} after {seconds:.1f} s"] if status or seconds > 10 else []
        return (*map(str, self.troubles), *self.told.troubles, *self.wrong_in_log, *unclean)

    def summary(self) -> str:
        """Return the figures for people."""
        first, last = self.lives[0][0], self.lives[-1][1]
        lines = {
            "seed": self.script.seed,
            "upstreams": len(self.script.upstreams),
            "pins": len(self.script.pins),
            "happened": ", ".join(f"{count} {what}" for what, count in sorted(self.counts.items())),
            "alerts": f"{self.told.events} events worth one; {self.told.delivered} messages delivered,"
            f" {self.told.dropped} dropped, {self.told.held} held; {self.told.received} arrived",
            "came twice": dict(self.told.twice) or "none",
            "log": ", ".join(f"{count} {what}" for what, count in self.log.most_common()),
            "service": f"{len(self.lives)} lives; first {first.kilobytes // 1024} MB and {first.files} files,"
            f" last {last.kilobytes // 1024} MB and {last.files} files,"
            f" most {max(life[1].kilobytes for life in self.lives) // 1024} MB",
            "end": f"exit status {self.ended[0]} after {self.ended[1]:.1f} s",
            "took": f"{self.seconds:.0f} s",
            "wrong": len(self.failures),
        }
        return "\n".join(f"{what:12}{value}" for what, value in lines.items())


def soak(folder: Path, seed: int, measure: Measure, *, speed: float, patience: float) -> Outcome:
    """Play the script of a seed in an empty folder, and return what it showed."""
    begun = time.monotonic()
    script = write(seed, measure)
    with stage(folder, script) as built:
        play = Play(built, speed=speed, patience=patience)
        play.run()
        ended = built.service.stop()
        log = built.service.lines()
        return Outcome(
            script=script,
            counts=play.counts,
            troubles=tuple(play.troubles),
            told=told(built),
            log=Counter(str(line["event"]) for line in log),
            wrong_in_log=tuple(str(line)[:3000] for line in log if _is_wrong(line)),
            lives=tuple(built.service.lives),
            ended=ended,
            seconds=time.monotonic() - begun,
        )


def _is_wrong(line: dict[str, object]) -> bool:
    """Answer whether a line of the log should not be there: whatever upstreams and Slack do, no pass fails."""
    return line["event"] in {"stray", "pass failed", "sending failed"} or line.get("level") in {"error", "critical"}


def main() -> int:
    """Run one soak from the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--upstreams", type=int, default=200)
    parser.add_argument("--minutes", type=float, default=60, help="scripted length")
    parser.add_argument("--speed", type=float, default=6, help="scripted seconds in one real second")
    parser.add_argument("--events", type=float, default=8, help="what happens to an upstream, on average")
    parser.add_argument("--kills", type=int, default=15)
    parser.add_argument("--slack", default="limited,busy", help="its troubles: limited, busy, garbled, silent")
    parser.add_argument("--folder", type=Path, help="an empty folder to keep; default: one that is thrown away")
    asked = parser.parse_args()
    measure = Measure(
        upstreams=asked.upstreams,
        seconds=asked.minutes * 60,
        events=asked.events,
        kills=asked.kills,
        slack=tuple(asked.slack.split(",")),
    )
    with tempfile.TemporaryDirectory() as spare:
        outcome = soak(asked.folder or Path(spare) / "soak", asked.seed, measure, speed=asked.speed, patience=1800)
    sys.stdout.write("\n".join((*outcome.failures, outcome.summary())) + "\n")
    return 1 if outcome.failures else 0


if __name__ == "__main__":
    sys.exit(main())
