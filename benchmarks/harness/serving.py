"""Serve bare repositories over http as well as this machine can, and count what is asked."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from harness import nginx
from watcher.demo.server import GitServer


@dataclass(frozen=True, slots=True, kw_only=True)
class Serving:
    """A server that runs."""

    base: str
    requests: Callable[[], int]
    """How many requests it has answered so far."""
    how: str
    """What it is, in a sentence."""


@contextmanager
def serving(folder: Path, root: Path) -> Iterator[Serving]:
    """Serve the repositories below `root` by nginx where it is installed, else by the server of the demo."""
    if missing := nginx.missing():
        with GitServer(root) as plain:
            how = f"Upstreams are served by Python's own server and `git http-backend`, for want of {missing}."
            yield Serving(base=plain.address, requests=lambda: len(plain.requests), how=how)
        return
    with nginx.nginx(folder, root) as real:
        log = folder / "access.log"
        how = "Upstreams are served by nginx, fcgiwrap and `git http-backend`."
        yield Serving(base=real.plain, requests=lambda: log.read_bytes().count(b"\n"), how=how)
