"""Shell scripts that build images: a `--build-arg` that replaces the default of a Dockerfile's ARG is a pin.

What such a script does with upstreams itself is read as any shell script is.
"""

from collections.abc import Iterable

from watcher.pins import shellscript
from watcher.pins.builds import BuildReader, overrides
from watcher.pins.checkout import Checkout
from watcher.pins.format import Broken
from watcher.pins.scope import Scope
from watcher.pins.sites import Sighting
from watcher.pins.text import Place, unknown, written
from watcher.pins.values import just


def claims(path: str) -> bool:
    """Answer whether a file may be a shell script."""
    return shellscript.claims(path)


def parse(path: str, text: str, checkout: Checkout) -> Iterable[Sighting | Broken]:
    """Find the build arguments that a script passes on."""
    if "build-arg" not in text:
        return
    reader = BuildReader(checkout)
    reader.run(written(text, path), Scope(cwd=just(unknown("start", Place(path, 1)))))
    list(reader.finish())  # functions that nothing calls are read here
    yield from overrides(reader.builds, checkout)
