"""The page says what came of the trials, and nothing else."""

from tests.faults.beside import Answer, Beside
from tests.faults.page import Row, page
from tests.faults.trial import Outcome

ROWS = [
    Row(
        group="git servers",
        name="a | b",
        outcomes=[Outcome(injected=2, recovery=0.5), Outcome(injected=3, lost=1, false_alarms=4, recovery=1.5)],
    ),
    Row(group="Slack", name="hangs", outcomes=[Outcome(injected=1)]),
]
PAIR = Beside(
    fault="503",
    ours=[Answer(said="x", seconds=0.1), Answer(said="x", seconds=2)],
    theirs=[Answer(said="y", seconds=3), Answer(said="z", seconds=1)],
    ours_after="fine",
    theirs_after="good",
)


def made(*, has_peer=True):
    """Return the lines of a page."""
    return page(ROWS, [PAIR], rounds=2, machine=[("git", "2.1")], has_peer=has_peer).splitlines()


def test_each_trial_is_a_line_under_its_group():
    """Rounds are summed up, of recovery the median and the longest are told."""
    lines = made()
    assert "| a \\| b | 5 | 1 | 4 | 1.0 s, 1.5 s |" == lines[lines.index("## Git servers") + 4]
    assert "| hangs | 1 | 0 | 0 | – |" == lines[lines.index("## Slack") + 4]


def test_what_everybody_says_is_counted():
    """With the longest time."""
    assert "| 503 | 2 × x (2.0 s) | fine | 1 × y; 1 × z (3.0 s) | good |" in made()


def test_without_nvchecker_its_columns_are_left_out():
    """And that is said."""
    lines = made(has_peer=False)
    assert "| 503 | 2 × x (2.0 s) | fine |" in lines
    assert any(line.startswith("nvchecker is not installed here") for line in lines)
