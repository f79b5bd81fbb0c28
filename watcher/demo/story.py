"""Play the whole story on made-up repositories: real git over real HTTP, on loopback, in about ten seconds."""

import tempfile
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from watcher import cycle
from watcher.config import Settings, load
from watcher.demo.drawing import draw
from watcher.demo.server import GitServer, Status
from watcher.model import Oid
from watcher.report import alert, table
from watcher.store import Store

_SAVER, _ATTN, _IMAGES = "acme/gpu-saver", "acme/attn-kernels", "acme/images"
_HOST = "https://git.example.org/"
_START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)

_CORE = """\
#include "saver.h"

int saver_free(void *ptr) {
    Block block = take_block(ptr);
    unmap(block.address, block.size);
    release(block.handle);
    free_address(block.address, block.size);
    return 0;
}
"""
_GUARDED = """\
#include "saver.h"

int saver_free(void *ptr) {
    Block block = take_block(ptr);
    if (block.state == ACTIVE) {
        unmap(block.address, block.size);
        release(block.handle);
    }
    free_address(block.address, block.size);
    return 0;
}
"""
_SETUP = 'from setuptools import setup\n\nsetup(name="gpu-saver", version="0.3.0")\n'

_SAVER_FILES = {
    "A": {"csrc/saver.cpp": _CORE, "setup.py": _SETUP},
    "X": {"csrc/saver.cpp": _GUARDED, "test/test_free.py": "def test_free_while_paused(): ...\n"},
}
_SAVER_MESSAGES = {
    "A": "Pause and resume GPU memory",
    "B": "Describe the pause call",
    "C": "Speed up resume",
    "X": (
        "Do not release a handle twice when freeing paused memory\n\n"
        "pause() already released it: freeing it again then crashes."
    ),
    "M": (
        "Merge pull request #12 from dana/free-while-paused\n\nDo not release a handle twice when freeing paused memory"
    ),
}
_SAVER_DATES = {
    name: datetime(2026, 3, day, hour, tzinfo=UTC)
    for name, day, hour in (("A", 1, 9), ("B", 1, 12), ("C", 1, 15), ("X", 2, 8), ("M", 2, 9))
}
_BEFORE = r"""
A---B---C          (main)
"""
_AFTER = r"""
          X
         / \
A---B---C---M      (main)
"""
_ATTN_BEFORE = r"""
      S---T        (sm100)
     /
K---L              (main)
"""
_ATTN_AFTER = r"""
      U            (sm100)
     /
K---L              (main)
"""


_CONFIG = """\
downstreams:
  - name: images
    repository: {host}{images}
    manifests:
      - {{files: docker/Dockerfile, variant: cuda}}
      - {{files: docker/Dockerfile.rocm, variant: rocm}}
rewrites: {{"{host}": "{server}/"}}
"""
_MANIFEST = """\
FROM acme/{variant}-base:24.04
RUN pip install git+{host}{saver}@{pinned} --no-deps
"""
_ATTENTION = "RUN git clone {host}{attn} && cd attn-kernels && git checkout {pinned} && pip install .\n"


def play(folder: Path | None, *, say: Callable[[str], None], color: bool = False) -> None:
    """Play the story and say what each alert would say, and where the files lie.

    `folder` is where they are kept; without it, in a new temporary folder.
    """
    place = folder or Path(tempfile.mkdtemp(prefix="watcher-demo-"))
    place.mkdir(parents=True, exist_ok=True)
    config = place / "config.yaml"
    with GitServer(place / "upstreams") as server:
        config.write_text(_CONFIG.format(host=_HOST, images=_IMAGES, server=server.address), encoding="utf-8")
        settings = load(config)
        with Store.open(settings.state) as store:
            _Story(server=server, settings=settings, store=store, say=say, color=color).tell()
    say(f"Everything lies in {place}: config.yaml, state/watcher.db, state/mirrors/, upstreams/\n")


@dataclass(slots=True, kw_only=True)
class _Story:
    """The stage, and the clock that runs on it."""

    server: GitServer
    settings: Settings
    store: Store
    say: Callable[[str], None]
    color: bool
    now: datetime = _START

    def tell(self) -> None:
        """Play the scenes in order."""
        saver = self._draw_saver(_BEFORE)
        attn = draw(self.server.path(_ATTN), _ATTN_BEFORE)
        self._pin(cuda=saver["C"], rocm=saver["C"], attn=attn["T"])
        self._look("1. First look: a baseline. CUDA and ROCm pin the same commit of gpu-saver.")

        saver = self._draw_saver(_AFTER)
        self._look('2. Upstream merges pull request 12; no title says "fix", the package version stays 0.3.0.')

        self._pin(cuda=saver["C"], rocm=saver["M"], attn=attn["T"])
        self._look("3. Somebody bumps the ROCm image and forgets the CUDA one.")

        draw(self.server.path(_ATTN), _ATTN_AFTER)
        self._look("4. attn-kernels force-pushes the branch that held our pin.")

        self.server.faults[_ATTN] = Status(code=503)
        self._look("5. The server of attn-kernels answers 503: not an alarm, and not an all-clear.")

    def _draw_saver(self, picture: str) -> dict[str, Oid]:
        path = self.server.path(_SAVER)
        return draw(path, picture, files=_SAVER_FILES, messages=_SAVER_MESSAGES, dates=_SAVER_DATES)

    def _pin(self, *, cuda: Oid, rocm: Oid, attn: Oid) -> None:
        """Write the downstream's Dockerfiles."""
        manifests = {
            "docker/Dockerfile": _MANIFEST.format(variant="cuda", host=_HOST, saver=_SAVER, pinned=cuda)
            + _ATTENTION.format(host=_HOST, attn=_ATTN, pinned=attn),
            "docker/Dockerfile.rocm": _MANIFEST.format(variant="rocm", host=_HOST, saver=_SAVER, pinned=rocm),
        }
        draw(self.server.path(_IMAGES), "A      (main)", files={"A": manifests})

    def _look(self, scene: str) -> None:
        """Make one pass, an hour after the last, and say what it says."""
        found = cycle.check(self.settings, self.store, now=self.now)
        self.now += timedelta(hours=1)
        self.say(f"\n{scene}\n\n")
        pins = {pin.id: pin for pin in found.pins}
        told = alert.plain(alert.alerts(found.events, pins)).strip()
        self.say(textwrap.indent(told or "no alert", "   ") + "\n")
        for silent in found.unobserved:
            self.say(f"   not observed: {silent.upstream}: {silent.reason}\n")
        self.say(f"   ({table.summary(found)})\n")
