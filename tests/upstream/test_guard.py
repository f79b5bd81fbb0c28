"""One at a time works on a mirror: whichever thread or process comes second waits, or goes on to something else."""

import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from threading import Event

import pytest

from watcher.upstream.guard import held

HOLD = """
import sys
from pathlib import Path
from watcher.upstream.guard import held

with held(Path(sys.argv[1]), wait=0) as is_ours:
    print(is_ours, flush=True)
    sys.stdin.read()
"""


@contextmanager
def guarded_elsewhere(directory: Path) -> Iterator[subprocess.Popen]:
    """Let another process hold a mirror."""
    command = [sys.executable, "-c", HOLD, directory]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert "True\n" == other.stdout.readline()
        try:
            yield other
        finally:
            other.kill()


@pytest.fixture
def mirror(tmp_path):
    """Return the place of a mirror that is not there yet."""
    return tmp_path / "mirrors" / "engine.git"


def asked(mirror, wait=0.0):
    """Return whether the mirror can be had."""
    with held(mirror, wait=wait) as is_ours:
        return is_ours


def test_another_process_has_it(mirror):
    """It cannot be had then; it can when that one ends, however it ends."""
    with guarded_elsewhere(mirror):
        assert not asked(mirror)
    assert asked(mirror)


def test_another_thread_has_it(mirror):
    """Threads of one process count as others."""
    with held(mirror, wait=0) as is_ours, ThreadPoolExecutor() as pool:
        assert (True, False) == (is_ours, pool.submit(asked, mirror).result())


def test_the_same_thread_goes_on(mirror, monkeypatch):
    """Under whichever name; and it is let go when the outermost block ends."""
    with held(mirror, wait=0):
        monkeypatch.chdir(mirror.parent)
        assert asked(Path(mirror.name))
        with ThreadPoolExecutor() as pool:
            assert not pool.submit(asked, mirror).result()
    with ThreadPoolExecutor() as pool:
        assert pool.submit(asked, mirror).result()


def test_whoever_waits_gets_it(mirror):
    """As soon as the other one is done."""
    waits = Event()

    def wait():
        waits.set()
        return asked(mirror, wait=60)

    with ThreadPoolExecutor() as pool:
        with held(mirror, wait=0):
            later = pool.submit(wait)
            waits.wait()
        assert later.result()


def test_a_failure_lets_it_go(mirror):
    """An error within the block is no reason to keep it."""
    with pytest.raises(ValueError, match="x"), held(mirror, wait=0):
        raise ValueError("x")
    with ThreadPoolExecutor() as pool:
        assert pool.submit(asked, mirror).result()
