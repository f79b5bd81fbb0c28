"""Bad inputs: what strangers can write, in every place, and that nothing is lost or falsely told for it."""

import os
import subprocess
import sys
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

from tests.faults.trial import Outcome, Trial
from tests.hostile.stage import hermetic_world, mouths
from tests.hostile.texts import TEXTS
from tests.stories.world import kinds

_ROOT = Path(__file__).parents[2]
_EACH = ("fix-available", "pin-unreachable", "tag-moved")
"""What is to be known of each upstream after its second look."""


def _texts(folder: Path) -> Outcome:
    """Let an upstream say every hostile text in every place, and count what is not known of it afterwards."""
    with hermetic_world(folder) as (world, _):
        every = mouths(world, TEXTS)
        first = world.look()
        for mouth in every:
            mouth.go_on()
        second = world.look()
    wanted = {"pin-unreachable": len(TEXTS), "tag-moved": len(TEXTS)}
    found = {kind: kinds(second).count(kind) for kind in wanted}
    silent = len({it.upstream for it in (*first.unobserved, *second.unobserved)})
    return Outcome(
        injected=len(TEXTS),
        lost=silent + sum(max(0, wanted[kind] - found[kind]) for kind in wanted),
        false_alarms=sum(max(0, found[kind] - wanted[kind]) for kind in wanted) + len(set(kinds(second)) - set(_EACH)),
    )


def _tests(folder: Path, file: str) -> Outcome:
    """Run the tests of a file: each that fails lost something."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--timeout=1200"]
    done = subprocess.run(
        [*command, f"--basetemp={folder}/tmp", f"tests/hostile/{file}"],
        cwd=_ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    counts = {word: int(number) for number, word in _counts(done.stdout)}
    failed = counts.get("failed", 0) + counts.get("error", 0) + counts.get("errors", 0)
    return Outcome(injected=failed + counts.get("passed", 0) + counts.get("xfailed", 0), lost=failed)


def _counts(said: str) -> list[tuple[str, str]]:
    """Return the counts of pytest's last line."""
    words = said.strip().splitlines()[-1].replace(",", "").split() if said.strip() else []
    return [(number, word) for number, word in pairwise(words) if number.isdigit()]


def _of(name: str, file: str) -> Trial:
    """Return a trial of a file of tests."""
    return Trial(group="Bad inputs", name=name, run=lambda folder: _tests(folder, file))


TRIALS: Sequence[Trial] = (
    Trial(group="Bad inputs", name="hostile text as message, name, path, branch and tag", run=_texts),
    # In CI these tests run by themselves, at a quarter of the size.
    *(
        (
            _of("hostile text through every channel", "test_channels.py"),
            _of("names of refs, millions of them, histories in a ring", "test_refs.py"),
            _of("large contents and trees, odd commits, dates and objects", "test_histories.py"),
            _of("bombs and links in manifests and in the configuration", "test_bombs.py"),
            _of("text that keeps expressions busy", "test_patterns.py"),
        )
        if os.environ.get("WATCHER_HEAVY")
        else ()
    ),
)
