"""No expression of ours runs away on a text that is made of the expression itself."""

import re
import sys
import time
from pathlib import Path

import pytest

from tests.hostile.patterns import Expression, attacks, expressions, put_together, steep
from watcher import pins
from watcher.pins.limit import within

SIZE = 8_000
"""Characters: enough to tell a straight line from a square, and for what grows faster to take for ever."""
LONGEST = 60.0
"""Seconds of processor time for all attacks on one expression; the slowest takes a tenth."""
SHORT = {
    "watcher.config.": "what is in the configuration was written by whoever runs us",
    "watcher.judge.complaint._FUNCTIONS": "at most 400 lines are read, and of each 2,000 characters",
    "watcher.judge.enclosing._NAMED": "of a line 400 characters are read",
    "watcher.pins.checksums._KEYED": "it is given 60 characters",
    "watcher.pins.checksums._SCRIPTS": "it is given the name of a file that a reader claims",
    "watcher.pins.fitting._ASSIGNED": "it is given 500 characters",
    "watcher.pins.fitting._FETCHED": "it is given 500 characters",
    "watcher.selfcheck:": "it is given what our own git says of its version",
}
"""Which expressions may take long for a long text: why they are never given one."""
PUT_TOGETHER = {
    "watcher.config.glob.is_match": "the configuration's own globs",
    "watcher.forges.reading.closing": "escaped words, and repeats of nine at most",
    "watcher.pins.checksums._of_namesake": "an escaped word before words that are spelled out",
    "watcher.pins.checksums.dependents": "an escaped word behind at most 200 characters",
    "watcher.pins.fitting._is_cloned": "repeats of 400 at most",
    "watcher.pins.lockfiles.command_for": "a table of names of files",
    "watcher.pins.spots._occurrences": "an escaped word",
    "watcher.report.text.linked": "escaped words",
}
"""Where an expression is put together when it is used: why it runs away with nobody."""
CASES = Path(__file__).parents[1] / "pins/cases"


def _distinct(found):
    return list({(it.key, it.methods): it for it in found}.values())


def _steep(expression):
    """Return what is to be said of an expression; an empty text for a good one, so that None is one without an end."""
    return steep(expression, SIZE) or ""


@pytest.mark.parametrize("part", range(4))
def test_every_expression_ends(part):
    """In a time that grows no faster than the text; a new one fails here by its name, with the text that shows it."""
    found = _distinct(it for it in expressions() if not it.is_timed and not it.is_of_paths)
    assert len(found) > 200
    told = [(it.name, text) for it, text in within(LONGEST, _steep, found[part::4]) if text != ""]
    assert [] == [(name, text) for name, text in told if not name.startswith(tuple(SHORT))]


@pytest.mark.parametrize("part", range(2))
def test_those_of_readers_end(part):
    """They have a second a file (pins/test_limit.py), and may be square in it, but none may double with a character."""
    found = _distinct(it for it in expressions() if it.is_timed)
    assert len(found) > 400
    results = within(LONGEST, lambda it: [_searched(it, text) for text in attacks(it.pattern, 240)], found[part::2])
    assert [] == [it.name for it, ended in results if ended is None]


def _searched(expression, text):
    return expression.pattern.search(text) is not None


def test_no_path_holds_up_the_one_who_asks_what_to_read():
    """Names come from trees that strangers made, and may be longer there than a file system takes."""
    paths = {
        path
        for it in _distinct(it for it in expressions() if it.is_of_paths)
        for text in list(attacks(it.pattern, 4_000))
        for path in (text[:255], text[:4_000], f"a/{text}" * 2, "/".join(re.findall(".{1,200}", text)))
    }
    assert len(paths) > 1_000
    assert [] == [path[:60] for path, taken in within(1.0, _claimed, sorted(paths)) if taken is None or taken > 0.2]


def _claimed(path):
    start = time.perf_counter()
    pins.is_claimed(path)
    return time.perf_counter() - start


def test_those_of_readers_are_used_within_the_limit():
    """What the process itself uses that asks for the pins of all cases is held to a straight line."""
    held = {it.key for it in expressions() if not it.is_timed}
    used = {}

    def watch(frame, event, called):
        pattern = getattr(called, "__self__", None)
        if event == "c_call" and isinstance(pattern, re.Pattern):
            used[pattern.pattern, pattern.flags] = f"{frame.f_code.co_filename}:{frame.f_lineno}"

    before = sys.getprofile()
    for case in (it for it in CASES.iterdir() if it.is_dir()):
        sys.setprofile(watch)
        try:
            pins.discover(pins.read(case, None, {}, claims=pins.is_claimed))
        finally:
            sys.setprofile(before)
    assert len(used) > 20
    assert {} == {key: place for key, place in used.items() if key not in held}


def test_what_is_put_together_is_known():
    """Its attacks cannot be made before it runs: somebody has looked at each."""
    assert set(PUT_TOGETHER) == {call.partition(": ")[0] for call in put_together()}


def test_what_is_excused_is_there():
    """An excuse goes with its expression."""
    assert [] == [name for name in SHORT if not any(it.name.startswith(name) for it in expressions())]


@pytest.mark.parametrize(
    ("expression", "method"),
    [
        ("a*b", "search"),
        (r"\s+$", "sub"),
        ("(.*)-(.*)x", "fullmatch"),
        ("at (?:at )*x", "search"),
        ("=.*?;", "findall"),
    ],
)
def test_one_that_is_square_is_found(expression, method):
    """The test above can fail."""
    bad = Expression(name="bad", pattern=re.compile(expression), methods=(method,), is_timed=False, is_of_paths=False)
    assert steep(bad, SIZE)


@pytest.mark.parametrize("expression", ["a+b?c", r"^\s+$", "(?<!a)a+b", "[^=]*=", "at new x"])
def test_one_that_is_straight_is_not_accused(expression):
    """Though it is searched for."""
    good = Expression(
        name="good", pattern=re.compile(expression), methods=("match",), is_timed=False, is_of_paths=False
    )
    assert steep(good, SIZE) is None


@pytest.mark.parametrize("expression", ["(a+)+$", "(\\w+\\s?)*$"])
def test_one_that_runs_away_is_found(expression):
    """And ended."""
    pattern = re.compile(expression)
    bad = Expression(name="bad", pattern=pattern, methods=("search",), is_timed=False, is_of_paths=False)
    assert [None] == [told for _, told in within(0.5, _steep, [bad])]
