"""Who looks at upstreams: what the configuration says, how work is cut, and how one mirror is shared."""

import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest
import structlog

from watcher.config import load
from watcher.config import settings as config
from watcher.errors import ConfigError, GitError
from watcher.model import Pass
from watcher.service import Service
from watcher.upstream import salvage
from watcher.upstream.refs import Manner
from watcher.workers import ABOUT
from watcher.workers.errands import parts, preferred

# --- the configuration -----------------------------------------------------------------------------------------------


def written(tmp_path: Path, executor: str) -> Path:
    """Write a configuration with an executor."""
    path = tmp_path / "config.yaml"
    path.write_text(f"pins: [{{upstream: 'https://example.org/o/n', ref: main}}]\nexecutor: {executor}\n")
    return path


@pytest.mark.parametrize(
    ("executor", "expected"),
    [
        ("threads", None),
        ("{dask: 'tcp://scheduler:8786'}", "tcp://scheduler:8786"),
        ("{dask: 'tcp://[::1]:8786'}", "tcp://[::1]:8786"),
        ("{dask: 'tls://scheduler:8786', ca: ca.pem, cert: c.pem, key: k.pem}", "tls://scheduler:8786"),
    ],
)
def test_an_executor_is_read(tmp_path, executor, expected):
    """Threads, or a scheduler with its certificates."""
    assert expected == load(written(tmp_path, executor)).executor.dask


def test_certificates_lie_beside_the_configuration(tmp_path):
    """Their paths are relative to it, as all paths are."""
    path = written(tmp_path, "{dask: 'tls://scheduler:8786', ca: ca.pem, cert: c.pem, key: k.pem}")
    assert tmp_path / "c.pem" == load(path).executor.cert


@pytest.mark.parametrize(
    ("executor", "expected"),
    [
        ("many", "expected threads, or dask: with the address of a scheduler for executor, found 'many'"),
        ("{dask: 'http://s:8786'}", "expected a scheduler's address such as tcp://scheduler:8786 or tls://scheduler"),
        ("{dask: 'tcp://s:99999'}", "expected a scheduler's address such as tcp://scheduler:8786 or tls://scheduler"),
        ("{dask: 'tls://s:8786', ca: a}", "expected ca, cert and key beside tls:// for executor, found ca"),
        ("{dask: 'tcp://s:8786', ca: a}", "expected tls:// where there is a certificate for executor.dask, found 'tcp"),
        ("{ca: a}", "expected dask: tls://host:port for executor, found only ca"),
        ("{dusk: a}", "expected one of the keys dask, ca, cert, key for executor, found 'dusk'; did you mean dask?"),
    ],
)
def test_a_wrong_executor_is_one_line(tmp_path, executor, expected):
    """With the line on which it stands."""
    path = written(tmp_path, executor)
    with pytest.raises(ConfigError) as caught:
        load(path)
    assert str(caught.value).startswith(f"{path}:2: {expected}")


def test_without_the_extra_the_configuration_says_what_to_install(tmp_path, monkeypatch):
    """Before anything else is tried."""
    monkeypatch.setattr(config, "find_spec", lambda _: None)
    path = written(tmp_path, "{dask: 'tcp://s:8786'}")
    with pytest.raises(ConfigError) as caught:
        load(path)
    expected = "expected the extra that it needs to be installed for executor.dask, found it missing"
    assert f"{path}:2: {expected}; pip install 'watcher[distributed]'" == str(caught.value)


# --- who gets what ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("hosts", "each", "count"), [(1, 1, 4), (1, 5000, 4), (1, 9000, 40), (700, 1, 4), (3, 600, 2)])
def test_no_host_is_asked_more_at_once_than_by_one_process(hosts, each, count):
    """Every upstream is in one part, and the parts of a host together ask it 16 times at once at most."""
    addresses = {f"u{host}/{at}": f"https://h{host}.example/u/{at}" for host in range(hosts) for at in range(each)}
    made = list(parts(addresses, {}, Manner(), count))
    assert sorted(addresses) == sorted(name for part in made for name in part.addresses)
    for host in range(hosts):
        own = [part.per_host for part in made if any(f"//h{host}." in url for url in part.addresses.values())]
        assert sum(own) <= 16
        assert all(it >= 1 for it in own)


def test_a_mirror_stays_with_its_worker():
    """Where a worker goes, only its upstreams have another one; and each worker has its share."""
    names = {f"tcp://10.0.0.{at}:1": f"w-{at}" for at in range(8)}
    fewer = {at: name for at, name in names.items() if name != "w-3"}
    before = {f"https://h/{at}": preferred(f"https://h/{at}", names) for at in range(800)}
    after = {upstream: preferred(upstream, fewer) for upstream in before}
    assert {"tcp://10.0.0.3:1"} == {before[it] for it in before if before[it] != after[it]}
    assert all(50 < [*before.values()].count(at) < 150 for at in names)


# --- one mirror, several processes -----------------------------------------------------------------------------------


def test_one_mirror_is_made_once(tmp_path):
    """However many open it in the same moment."""
    folder = tmp_path / "mirrors" / "one.git"
    script = (
        "import sys; from pathlib import Path; from watcher.upstream.mirror import Mirror\n"
        "print(Mirror.open(Path(sys.argv[1]), 'https://example.org/o/n', filters=True).partial)"
    )
    running = [
        subprocess.Popen([sys.executable, "-c", script, folder], stdout=subprocess.PIPE, text=True) for _ in range(4)
    ]
    assert ["True\n"] * 4 == [process.communicate()[0] for process in running]
    assert [folder] == list(folder.parent.glob("*.git"))


def test_one_process_at_a_time_has_a_mirror(tmp_path):
    """Another one is told to try again after a while; when its holder dies, by kill -9 as well, it is free."""
    folder = tmp_path / "mirrors" / "one.git"
    script = (
        "import sys, time; from pathlib import Path; from watcher.upstream import salvage\n"
        "with salvage.alone(Path(sys.argv[1])):\n    print('held', flush=True); time.sleep(600)"
    )
    with subprocess.Popen([sys.executable, "-c", script, folder], stdout=subprocess.PIPE, text=True) as process:
        assert "held\n" == process.stdout.readline()
        with pytest.raises(GitError) as caught, salvage.alone(folder, seconds=0.05):
            pass
        assert caught.value.retryable
        process.kill()
    with salvage.alone(folder, seconds=5):
        pass


# --- what the service says -------------------------------------------------------------------------------------------


def found(*warnings: str, observed: frozenset[str] = frozenset({"https://h/o/n"})) -> Pass:
    """Return a pass with warnings."""
    nothing = {
        "pins": (),
        "commits": {},
        "reachability": {},
        "fixes": (),
        "suggestions": (),
        "drift": (),
        "findings": (),
    }
    return Pass(at=datetime(2026, 3, 2, tzinfo=UTC), **nothing, warnings=warnings, observed=observed)


def test_the_service_says_once_that_workers_are_missing_and_that_they_are_back(tmp_path):
    """A pass that looked at nothing says neither, and other warnings are not meant."""
    running = Service(written(tmp_path, "threads"))
    running._log = structlog.testing.CapturingLogger()
    gone = f"{ABOUT}the scheduler does not answer"
    for one in (found("x"), found(gone), found(gone), found(observed=frozenset()), found("x"), found()):
        running._tell_workers(one)
    assert [
        ("warning", "workers", {"reason": "the scheduler does not answer"}),
        ("info", "workers are back", {}),
    ] == [(call.method_name, *call.args, call.kwargs) for call in running._log.calls]
