"""`setup.cfg` and `tox.ini`: requirements with an address, and the commands of test environments."""

import re
from collections.abc import Iterable, Iterator

from watcher.pins.checkout import Checkout
from watcher.pins.entries import requirement
from watcher.pins.format import Broken
from watcher.pins.live import is_live
from watcher.pins.scope import Scope
from watcher.pins.shell import Reader
from watcher.pins.sites import Sighting
from watcher.pins.text import Text, unknown, written
from watcher.pins.values import just

_SECTION = re.compile(r"\[(?P<name>[^\]\n]+)\]\s*(?:[#;].*)?")
_OPTION = re.compile(r"(?P<key>[^\s=:#;\[][^=:]*?)\s*[=:]\s*(?P<value>.*)")
_FACTOR = re.compile(r"\s*[\w{},!.-]+:\s+")
_EDITABLE = re.compile(r"\s*(?:-e|--editable)[\s=]+")
_COMMANDS = re.compile(r"commands(?:_pre|_post)?|install_command")


def claims(path: str) -> bool:
    """Answer whether a file holds options of setuptools or tox."""
    return path.rpartition("/")[2] in {"setup.cfg", "tox.ini", ".pre-tox.ini"}


def parse(path: str, text: str, checkout: Checkout) -> Iterable[Sighting | Broken]:
    """Find the requirements that name an address, and what commands install or clone."""
    section = key = ""
    is_broken = False
    commands: list[Text] = []
    for number, raw in enumerate(text.split("\n"), 1):
        header = _SECTION.fullmatch(raw.strip()) if raw.startswith("[") else None
        if header:
            section, key = header["name"], ""
            continue
        if not raw.strip() or raw.lstrip().startswith(("#", ";")):
            continue
        option = _OPTION.fullmatch(raw) if not raw[0].isspace() else None
        if option is None and not raw[0].isspace():
            if not is_broken:
                is_broken = True
                yield Broken(file=path, line=number, reason=f"expected `key = value`, found {raw.strip()[:60]!r}")
            continue
        key = option["key"].strip() if option else key
        value = written(option["value"] if option else raw, path, number)
        if _COMMANDS.fullmatch(key):
            commands.append(value)
        else:
            yield from _required(value, (key, section))
    yield from _run(commands, checkout)


def _required(value: Text, labels: tuple[str, ...]) -> Iterator[Sighting]:
    if "://" not in value.chars:
        return
    comment = re.search(
        r"\s[#;]\s?(?!\s*(?:python|sys|platform|os|extra|implementation)_?\w*\s*[=<>!]).*$", value.chars
    )
    body = value[: comment.start()] if comment else value
    factor = _FACTOR.match(body.chars)
    body = body[factor.end() :] if factor else body
    editable = _EDITABLE.match(body.chars)
    yield from requirement(body[editable.end() :] if editable else body, labels)


def _run(commands: list[Text], checkout: Checkout) -> Iterator[Sighting]:
    if not any(is_live(text.chars) for text in commands):
        return
    reader = Reader(checkout)
    scope = Scope(cwd=just(unknown("start", commands[0].place())))
    for text in commands:
        reader.run(text, scope)
    yield from reader.finish()
