"""No file holds up a scan, whatever its reader does."""

import itertools
import json
import os
import re
import select
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest

from tests.pins.finding import SHA
from watcher import pins
from watcher.pins import Broken, Checkout, discover
from watcher.pins.limit import within

SHORT = 0.1
TOO_LONG = "took longer than a second to read, or ended its reader, and was given up: its pins are not watched"
TOO_MUCH = "is nested too deeply, or takes more than 1 GiB of memory, and was given up: its pins are not watched"

SPARE = """
import json, sys
from watcher import pins
pins.limit._MEMORY, pins._LONGEST = 40 << 20, 10.0
found = pins.discover(pins.Checkout(texts=json.load(sys.stdin)))
told = {"reasons": [it.reason for it in found.warnings], "files": [it.file for it in found.pins]}
print(json.dumps(told))
"""


def for_ever():
    """Loop without an end, whatever is raised inside."""
    for _ in itertools.count():
        with suppress(BaseException):  # what a careless library might do
            sum(range(1_000))


def backtrack():
    """Keep the engine of regular expressions busy for years."""
    return re.search("(a+)+$", "a" * 99 + "b")


def restart():
    """Keep it busy where it does not look for signals."""
    return re.search("a+b", "a" * 3_000_000)


def crash():
    """End as a parser in C with a fault would."""
    os.kill(os.getpid(), signal.SIGKILL)


class Looping:
    """A format that finds a pin and then never ends."""

    def claims(self, path):
        """Claim what is made to be slow."""
        return path.endswith(".slow")

    def parse(self, path, text, checkout):
        """Yield one pin, then nothing for ever."""
        yield from pins.requirements.parse(path, text, checkout)
        try:
            for_ever()
        except Exception:  # noqa: BLE001 - a reader that catches all errors
            yield Broken(file=path, line=1, reason="swallowed")


class Hungry:
    """A format that asks for more memory than there is."""

    def claims(self, path):
        """Claim what is made to be large."""
        return path.endswith(".large")

    def parse(self, path, text, checkout):
        """Yield one pin, then take four GiB at once; nothing of it is ever touched."""
        yield from pins.requirements.parse(path, text, checkout)
        bytearray(4 << 30)


@pytest.fixture
def _looping(monkeypatch):
    """Let a format be there that never ends, and the limit be short."""
    monkeypatch.setattr(pins, "FORMATS", {"looping": Looping(), **pins.FORMATS})
    monkeypatch.setattr(pins, "_LONGEST", 4 * SHORT)


def test_each_piece_has_its_result():
    """Work that ends in time is as if it were done here, in order."""
    assert [(3, 4), (1, 2), (2, 3)] == list(within(10.0, lambda number: number + 1, [3, 1, 2]))
    assert [] == list(within(10.0, len, []))


@pytest.mark.parametrize("work", [for_ever, backtrack, restart, crash])
def test_work_that_does_not_end_is_ended(work):
    """Loops of ours and of libraries in C, and what ends the process; the pieces before and behind are done."""
    pieces = [len, work, len, work, work, len]
    results = [result for _, result in within(SHORT, lambda piece: piece("ab") if piece is len else piece(), pieces)]
    assert [2, None, 2, None, None, 2] == results


def test_the_limit_is_of_processor_time():
    """To wait costs nothing: a slow disk or a busy machine does not change what is found."""
    assert [(1, "done")] == list(within(SHORT, lambda _: select.select([], [], [], 2 * SHORT) and "done", [1]))


def test_the_limit_is_each_piece_of_its_own():
    """Many pieces may take long together."""

    def busy(_):
        start = time.process_time()
        while time.process_time() - start < SHORT:
            pass
        return True

    assert [True] * 8 == [result for _, result in within(5 * SHORT, busy, range(8))]


def test_errors_of_the_work_come_through():
    """A mistake in a reader is not taken for a slow file."""
    with pytest.raises(ZeroDivisionError):
        list(within(10.0, lambda number: 1 / number, [1, 0]))


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="only Linux limits it")
def test_memory_that_ends_is_no_error():
    """Nobody is left to tell of it: the pieces before and behind are done."""

    def hungry(piece):
        return bytearray(4 << 30) if piece else piece

    assert [(0, 0), (1, None), (0, 0), (1, None)] == list(within(10.0, hungry, [0, 1, 0, 1]))


def test_whoever_stops_early_leaves_nothing_behind(monkeypatch):
    """The child is ended with the one who asked."""
    fork, children = os.fork, []
    monkeypatch.setattr(os, "fork", lambda: children.append(fork()) or children[-1])
    found = within(10.0, lambda number: number, range(1_000_000))
    next(found)
    found.close()
    with pytest.raises(ChildProcessError):
        os.waitpid(children[0], os.WNOHANG)


def test_another_thread_may_ask():
    """The service scans beside other things."""
    with ThreadPoolExecutor(1) as threads:
        assert [(1, None)] == threads.submit(lambda: list(within(SHORT, lambda _: for_ever(), [1]))).result()


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="only Linux limits it")
def test_a_file_that_takes_too_much_memory_is_one_warning_and_the_others_are_read(monkeypatch):
    """However much the parent has: what is more than it had counts."""
    monkeypatch.setattr(pins, "FORMATS", {"hungry": Hungry(), **pins.FORMATS})
    line = f"a @ git+https://github.com/x/a@{SHA}\n"
    ballast = bytearray(2 << 30)
    found = discover(Checkout(texts={"a.large": line, "b.large": line, "requirements.txt": line}))
    del ballast
    assert [TOO_MUCH, TOO_MUCH] == [warning.reason for warning in found.warnings]
    assert ["requirements.txt"] == [pin.file for pin in found.pins]


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="only Linux limits it")
@pytest.mark.parametrize(
    ("path", "text", "reason"),
    [
        ("package.json", '{"dependencies": {"git": "://"}, "x": [' + "{}," * 1_300_000 + "{}]}", TOO_MUCH),
        ("west.yml", "git: [" + "a," * 200_000 + "]", TOO_MUCH),
        ("Cargo.toml", "git = [" + "1," * 1_900_000 + "]", TOO_MUCH),
        ("build.sh", "git clone x\n" + "a;" * 1_900_000, TOO_LONG),  # the grammar, in C, ends the process
    ],
    ids=["json", "yaml", "toml", "shell"],
)
def test_readers_survive_the_end_of_memory(path, text, reason):
    """What each does with a real file where there is far less memory: in a process that has none to spare yet."""
    texts = {path: text, "requirements.txt": f"a @ git+https://github.com/x/a@{SHA}\n"}
    ran = subprocess.run(
        [sys.executable, "-c", SPARE], input=json.dumps(texts).encode(), capture_output=True, check=True
    )
    assert {"reasons": [reason], "files": ["requirements.txt"]} == json.loads(ran.stdout)
    assert b"Traceback" not in ran.stderr


@pytest.mark.usefixtures("_looping")
def test_a_file_that_takes_too_long_is_one_warning_and_the_others_are_read():
    """What a reader found before it was cut is left out: all of a file or nothing."""
    line = f"a @ git+https://github.com/x/a@{SHA}\n"
    found = discover(Checkout(texts={"a.slow": line, "b.slow": line, "requirements.txt": line}))
    assert ["requirements.txt:1"] == [pin.place for pin in found.pins]
    assert ["a.slow", "b.slow"] == sorted(warning.file for warning in found.warnings)
    assert {TOO_LONG} == {warning.reason for warning in found.warnings}


@pytest.mark.usefixtures("_looping")
def test_that_a_file_was_given_up_is_said_before_its_other_troubles(monkeypatch):
    """One warning a file, the one that matters."""
    monkeypatch.setattr(Looping, "claims", lambda _, path: path == "west.yml")
    found = discover(Checkout(texts={"west.yml": "manifest: {git: ://\n a: [\n"}))
    assert ["took longer than a second"] == [warning.reason[:25] for warning in found.warnings]


def test_a_file_that_is_nested_too_deeply_is_one_warning(monkeypatch):
    """A reader that falls over its own feet takes nothing else with it."""

    def deeper(path, text, checkout):
        return deeper(path, text, checkout)

    monkeypatch.setattr(Looping, "parse", lambda _, *given: deeper(*given))
    monkeypatch.setattr(pins, "FORMATS", {"looping": Looping(), **pins.FORMATS})
    line = f"a @ git+https://github.com/x/a@{SHA}\n"
    found = discover(Checkout(texts={"a.slow": line, "requirements.txt": line}))
    assert ["requirements.txt:1"] == [pin.place for pin in found.pins]
    assert [TOO_MUCH] == [it.reason for it in found.warnings]
