"""Makefiles: which files are some, and the pins in them.

`$(MAKE) X=y` passes values on: the Makefile that uses them is read again with them.
"""

import re
from collections.abc import Iterable, Iterator, Mapping

from watcher.pins.builds import Build, overrides, replaced, written_out
from watcher.pins.checkout import Checkout
from watcher.pins.format import Broken
from watcher.pins.makerun import Make
from watcher.pins.sites import Sighting
from watcher.pins.values import Value

_FILE = re.compile(r"(?:GNU|BSD)?makefile(?:[._-].*)?|.*\.(?:mk|mak|make)", re.IGNORECASE)
_OTHER = re.compile(r".*\.(?:am|in|md|rst|py|txt|ya?ml|json|orig)", re.IGNORECASE)
_REF_NAME = re.compile(r"commit|version|tag|ref|sha|rev|branch|hash", re.IGNORECASE)
_MOST_FILES = 12


def claims(path: str) -> bool:
    """Answer whether a file is a Makefile: `Makefile`, `GNUmakefile`, `Makefile-awq`, `Makefile.rocm`, `rules.mk`."""
    name = path.rpartition("/")[2]
    return _FILE.fullmatch(name) is not None and _OTHER.fullmatch(name) is None


def parse(path: str, text: str, checkout: Checkout) -> Iterable[Sighting | Broken]:
    """Find the pins of a Makefile, and those that it makes of the variables of another one or of a Dockerfile."""
    make = Make(path=path, checkout=checkout, arguments={})
    yield from make.run(text)
    yield from overrides(make.reader.builds, checkout)
    yield from _passed(make.reader.makes, checkout)


def evaluate(path: str, text: str, checkout: Checkout, arguments: Mapping[str, Value]) -> Iterator[Sighting | Broken]:
    """Find the pins of a Makefile that is run with variables on its command line."""
    yield from Make(path=path, checkout=checkout, arguments=arguments).run(text)


def _passed(builds: Iterable[Build], checkout: Checkout) -> Iterator[Sighting]:
    """Yield the pins that `make X=y` makes of its values in the Makefile that uses them."""
    done: set[tuple[str, str]] = set()
    for build in builds:
        given = build.given.items()
        arguments = {name: value for name, value in given if _REF_NAME.search(name) or "://" in value[0].text.chars}
        if not arguments or len(done) > _MOST_FILES:
            continue
        found = checkout.find(build.target, build.caller)
        is_certain = found is not None and found != build.caller and _sets(checkout.texts[found], arguments)
        name = found if is_certain else _alike(arguments, build.caller, checkout)
        if name is not None and (key := (name, written_out(arguments))) not in done:
            done.add(key)
            yield from replaced(name, arguments, checkout, build, evaluate, is_certain=is_certain)


def _alike(arguments: Mapping[str, Value], caller: str, checkout: Checkout) -> str | None:
    """Return the first other Makefile that has all of some variables: a build may work on a copy of it."""
    alike = (other for other in checkout.texts if claims(other) and _sets(checkout.texts[other], arguments))
    return next((other for other in alike if other != caller), None)


def _sets(text: str, arguments: Mapping[str, Value]) -> bool:
    return all(re.search(rf"^\s*{re.escape(name)}\s*[?:]?=", text, re.MULTILINE) for name in arguments)
