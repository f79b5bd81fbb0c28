"""`pyproject.toml` and its kin (`uv.toml`, `pixi.toml`, `Pipfile`): direct references and tables with a git source."""

import re
from collections.abc import Iterable, Iterator, Sequence

from watcher.pins import tomltext
from watcher.pins.address import archive_source, normalise
from watcher.pins.checkout import Checkout
from watcher.pins.entries import REF_KEYS, addresses, carried, keyed, requirement
from watcher.pins.format import Broken
from watcher.pins.live import is_live
from watcher.pins.scope import Scope
from watcher.pins.shell import Reader
from watcher.pins.sites import Sighting
from watcher.pins.text import Text, unknown
from watcher.pins.tree import Found, Leaf, Row, Table, walk
from watcher.pins.values import just

_NAMES = frozenset({"uv.toml", "pixi.toml", "pdm.toml", "hatch.toml", "Pipfile"})
_LIVE = re.compile(r"git|/archive/|/(?:tar|zip)ball/|codeload", re.IGNORECASE)
_NO_REQUIREMENTS = frozenset({"urls", "description", "readme", "classifiers", "keywords"})
_ARCHIVES = re.compile(
    r".*(?:dependenc|requires|overrides|constraints|extras|groups?|sources|packages)[\w-]*", re.IGNORECASE
)
_SCOPED = frozenset(
    {"optional-dependencies", "dependency-groups", "dev-dependencies", "group", "feature", "envs", "extras"}
)
"""Keys below which the next key names what the dependencies are for."""
_MARKS = ("extra", "group", "marker", "markers", "platform")
_URLS = ("url", "git_url", "git-url", "repo_url", "repo-url", "repo", "repository", "upstream", "source", "remote")
_COMMANDS = re.compile(
    r"cmd|command|shell|script|scripts|tasks|pre-install-commands|post-install-commands|(?:before|after)-\w+"
)


def claims(path: str) -> bool:
    """Answer whether a file is a project's own description in TOML."""
    name = path.rpartition("/")[2]
    return (
        name in _NAMES
        or re.fullmatch(r"pyproject(?:[._-][\w.-]+)?\.toml|(?:[\w.-]+[._-])pyproject\.toml", name) is not None
    )


def parse(path: str, text: str, checkout: Checkout) -> Iterable[Sighting | Broken]:
    """Find the direct references, the git sources and what tasks and hooks clone."""
    if not _LIVE.search(text):
        return
    reading = tomltext.read(text, path)
    if reading.problem is not None:
        yield Broken(file=path, line=reading.problem.line, reason=reading.problem.reason)
    together: set[int] = set()
    for found in walk(reading.root):
        if not _NO_REQUIREMENTS.isdisjoint(found.keys):
            continue
        match found.node:
            case Table():
                yield from _source(found.node, found.keys)
            case Row() if _is_command(found.keys):
                together |= {id(node) for node in found.node.nodes}
                yield from _steps(found.node, checkout)
            case Leaf(is_string=True) if id(found.node) not in together:
                yield from _string(found, found.node.text, checkout)


def _source(table: Table, keys: tuple[str, ...]) -> Iterator[Sighting]:
    """Read `{ git = …, rev = … }`, `{ url = "…/archive/…" }`, and a tool's own `url` with a `ref` beside it."""
    labels = _labels(keys, table)
    if table.text("git") is not None:
        sighting = keyed(table, labels=labels)
        if sighting is not None:
            yield sighting
        return
    url = table.text("url")
    if url is not None and archive_source(url.chars) and _holds_archives(keys):
        sighting = carried(url, labels=labels)
        if sighting is not None:
            yield sighting
    elif keys[:1] == ("tool",):
        yield from _own(table, labels)


def _own(table: Table, labels: Sequence[str]) -> Iterator[Sighting]:
    """Read a repository and a commit that some tool of the project looks up here."""
    url = table.text(*_URLS)
    if url is None or not _is_repository(url.chars):
        return
    sighting = keyed(
        table,
        _URLS,
        {key: kind for key, kind in REF_KEYS.items() if "branch" not in key},
        labels=labels,
        needs_ref=True,
    )
    if sighting is not None:
        yield sighting


def _is_repository(url: str) -> bool:
    return normalise(url) is not None and (
        url.endswith(".git") or "@" in url or "github.com/" in url or "gitlab" in url
    )


def _steps(row: Row, checkout: Checkout) -> Iterator[Sighting]:
    """Read the commands of a list together, since a later one works on what an earlier one cloned."""
    texts = [node.text for node in row.nodes if isinstance(node, Leaf) and node.is_string]
    if any(is_live(text.chars) for text in texts):
        yield from _commands(texts, checkout)


def _string(found: Found, text: Text, checkout: Checkout) -> Iterator[Sighting]:
    if _is_command(found.keys):
        if is_live(text.chars):
            yield from _commands([text], checkout)
    elif "git+" in text.chars:
        yield from requirement(_editable(text), _labels(found.keys))
    elif _holds_archives(found.keys) and not _names_address(found.keys):
        yield from addresses(text, _labels(found.keys))


def _names_address(keys: tuple[str, ...]) -> bool:
    return keys[-1:] in {("url",), ("git",), ("index",), ("find-links",)}


def _editable(text: Text) -> Text:
    found = re.match(r"\s*(?:-e|--editable)[\s=]+", text.chars)
    return text[found.end() :] if found else text


def _commands(texts: Sequence[Text], checkout: Checkout) -> Iterator[Sighting]:
    reader = Reader(checkout)
    scope = Scope(cwd=just(unknown("start", texts[0].place())))
    for text in texts:
        reader.run(text, scope)
    yield from reader.finish()


def _is_command(keys: tuple[str, ...]) -> bool:
    return keys[:1] == ("tool",) and any(_COMMANDS.fullmatch(key) for key in keys[1:])


def _holds_archives(keys: tuple[str, ...]) -> bool:
    return any(_ARCHIVES.fullmatch(key) for key in keys)


def _labels(keys: tuple[str, ...], table: Table | None = None) -> tuple[str, ...]:
    """Return the names of the extras, groups and environments around a place; names of packages tell nothing."""
    own = (table.text(key) for key in _MARKS) if table else ()
    scopes = (keys[at + 1] for at in range(len(keys) - 1) if keys[at] in _SCOPED)
    return (*(text.chars for text in own if text), *scopes)
