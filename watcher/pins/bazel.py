"""Bazel: repository rules in WORKSPACE, MODULE.bazel and .bzl files, with constants that they load from each other."""

import re
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath

from watcher.model import RefKind
from watcher.pins.checkout import Checkout
from watcher.pins.format import Broken
from watcher.pins.sites import Pick, Sighting
from watcher.pins.sources import archive, is_dead, repository
from watcher.pins.starlark import Module
from watcher.pins.starlarktexts import formatted
from watcher.pins.starlarkvalues import Call, Table, Unknown, Value
from watcher.pins.text import Place, Span, Text, joined, unknown

_NAMES = re.compile(r"(?:WORKSPACE|MODULE)(?:[.-][\w.-]+)?|[\w.-]+\.(?:bzl|MODULE\.bazel)|REPO\.bazel")
_LIVE = re.compile(
    r"github|gitlab|bitbucket|googlesource|/archive/|git_repository|git_override|new_git|remote\s*=|codeload|commit\s*=|\bgit\s*=",
    re.IGNORECASE,
)
_ADDRESSES = (
    "remote",
    "git",
    "git_repository",
    "git_url",
    "repo_url",
    "vcs_url",
    "repository_url",
    "git_remote",
    "url",
)
_REFS = ("commit", "git_commit", "revision", "rev", "tag", "git_tag", "branch", "git_branch", "ref")
_ARCHIVES = ("urls", "url", "archive_urls", "mirrors", "remote_urls", "archive")
_HINTS = {"tag": RefKind.TAG, "git_tag": RefKind.TAG, "branch": RefKind.BRANCH, "git_branch": RefKind.BRANCH}
_PREFIXES = ("strip_prefix", "stripPrefix", "strip_path")
_OWNED = re.compile(r"[\w.-]+/[\w.-]+")
_LOADS = 12
_MOST = 10_000
_NOT_RULES = frozenset(
    {"bazel_dep", "module", "load", "print", "fail", "select", "glob", "Label", "patch", "local_repository"}
)


def claims(path: str) -> bool:
    """Answer whether a file is Bazel's by its name."""
    name = path.rpartition("/")[2]
    return _NAMES.fullmatch(name) is not None and not name.endswith((".md", ".lock", ".json"))


def parse(path: str, text: str, checkout: Checkout) -> Iterable[Sighting | Broken]:
    """Find the repositories and archives that a file's rules fetch."""
    if not _LIVE.search(text):
        return
    module = _module(path, text, checkout, ())
    module.run()
    yield from module.broken[:1]
    for call in module.calls[:_MOST]:
        yield from _sightings(call)
    for name, value in module.names.items():
        if isinstance(value, Table) and value.place.file == path:
            yield from _listed(Call(name, [], value.entries, value.place, {}))


def _listed(call: Call) -> Iterator[Sighting]:
    """Read a table of locations that some rule goes over."""
    for table in _tables(call):
        yield from _sightings(Call("", [], table, call.place, {}))


def _module(path: str, text: str, checkout: Checkout, seen: tuple[str, ...]) -> Module:
    loaded: dict[str, Module | None] = {}

    def load(label: str, beside: str) -> Module | None:
        name = _labelled(label, beside, checkout)
        if name is None or name == path or name in seen or len(seen) >= _LOADS:
            return None
        if name not in loaded:
            loaded[name] = None
            other = _module(name, checkout.texts[name], checkout, (*seen, path))
            other.run()
            other.calls.clear()
            loaded[name] = other
        return loaded[name]

    return Module(path, text, load)


def _labelled(label: str, beside: str, checkout: Checkout) -> str | None:
    """Return the file that `//a/b:c.bzl` or `:c.bzl` names."""
    repository_, _, rest = label.rpartition("//")
    folder, _, name = rest.rpartition(":") if "//" in label else ("", "", label.removeprefix(":"))
    if "//" not in label:
        folder = str(PurePosixPath(beside).parent)
    candidate = str(PurePosixPath(folder) / name)
    if candidate in checkout.texts:
        return candidate
    return checkout.find(candidate, beside) if not repository_ else None


# --- what a rule fetches ----------------------------------------------------------------------------------------------


def _sightings(call: Call) -> Iterator[Sighting]:
    if call.name in _NOT_RULES:
        return
    keywords = call.keywords
    pick = _git(call)
    if pick is not None:
        if not is_dead(pick):
            yield pick.sighting()
            yield from _repeated(pick, keywords, call.place)
        return
    for table in _tables(call):
        for key in _ARCHIVES:
            for url in _texts(table.get(key)):
                found = archive(formatted(url, (), table, keep=True), url.place(), labels=_labels(call))
                if found is not None and not is_dead(found):
                    yield found.sighting()
                    yield from _repeated(found, table, call.place)


def _tables(call: Call) -> Iterator[dict[str, Value]]:
    """Yield the keywords of a call, and of the tables inside it: lists of locations are handed around as those."""
    yield call.keywords
    if not call.keywords:
        yield {"urls": list(call.arguments)}
    stack: list[Value] = [*call.keywords.values(), *call.arguments]
    for _ in range(2_000):
        if not stack:
            return
        match stack.pop():
            case Table(entries=entries):
                yield entries
                stack += entries.values()
            case list() as items:
                stack += items


def _git(call: Call) -> Pick | None:
    """Return the repository that a rule clones."""
    keywords = call.keywords
    url = next((value for key in _ADDRESSES if isinstance(value := keywords.get(key), Text)), None)
    given = next((key for key in _REFS if _is_given(keywords.get(key))), None)
    if url is None or archive(url, call.place) is not None:
        url = _owned(call) if given else None
    if url is None or (given is None and not _is_git_rule(call)):
        return None
    value = keywords.get(given) if given else None
    place = call.places.get(given, call.place) if given else call.place
    ref = unknown(value.name, place) if isinstance(value, Unknown) else value if isinstance(value, Text) else None
    return repository(url, ref, place, hint=_HINTS.get(given or ""), labels=_labels(call))


def _is_git_rule(call: Call) -> bool:
    return "git" in call.name and "remote" in call.keywords


def _is_given(value: Value | None) -> bool:
    return bool(value.chars) if isinstance(value, Text) else isinstance(value, Unknown) and bool(value.name)


def _owned(call: Call) -> Text | None:
    """Return the address that `org` and `repo`, `repo = "a/b"` or an import path tell."""
    keywords = call.keywords
    path = keywords.get("importpath")
    if isinstance(path, Text) and re.match(
        r"(?:github\.com|gitlab\.com|bitbucket\.org|go\.googlesource\.com)/", path.chars
    ):
        parts = path.chars.split("/")
        return _behind("https://", path[: len("/".join(parts[:3]))])
    name = next(
        (
            value
            for key in ("repo", "repository", "github", "github_repo", "project")
            if isinstance(value := keywords.get(key), Text)
        ),
        None,
    )
    owner = next(
        (
            value
            for key in ("org", "owner", "user", "organization", "github_org")
            if isinstance(value := keywords.get(key), Text)
        ),
        None,
    )
    if name is not None and owner is not None and "/" not in name.chars:
        return _behind("https://github.com/", joined((owner, Text((Span("/", name.place()),)), name)))
    if name is not None and "github" in call.name and _OWNED.fullmatch(name.chars):
        return _behind("https://github.com/", name)
    return None


def _behind(prefix: str, text: Text) -> Text:
    return joined((Text((Span(prefix, text.place()),)), text))


def _repeated(pick: Pick, keywords: dict[str, Value], place: Place) -> Iterator[Sighting]:
    """Yield the same ref where the folder inside the archive repeats it."""
    if pick.ref is None or not pick.ref.is_known:
        return
    for key in _PREFIXES:
        for prefix in _texts(keywords.get(key)):
            at = prefix.chars.find("-" + pick.ref.chars)
            end = at + 1 + len(pick.ref.chars)
            if at >= 0 and prefix.chars[end : end + 1] in {"", "/"}:
                ref = prefix[at + 1 : end]
                again = Pick(
                    upstream=pick.upstream, url=pick.url, ref=ref, command=place, hint=pick.kind, labels=pick.labels
                )
                yield again.sighting()


def _labels(call: Call) -> tuple[str, ...]:
    name = call.keywords.get("name") or call.keywords.get("module_name")
    return (name.chars,) if isinstance(name, Text) else ()


def _texts(value: Value | None) -> Iterator[Text]:
    """Yield the strings in a value; a call that is not known hands on what it is given."""
    stack: list[Value] = [value] if value is not None else []
    for _ in range(2_000):
        if not stack:
            return
        match stack.pop():
            case Text() as text:
                yield text
            case list() as items:
                stack += reversed(items)
            case Call(arguments=arguments, keywords=keywords):
                stack += [*reversed(list(keywords.values())), *reversed(arguments)]
