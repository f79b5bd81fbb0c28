"""Jenkinsfiles: variables, `git` and `checkout` steps, and the commands of `sh`, `bat` and `powershell` steps."""

import re
from collections.abc import Iterable, Iterator

from watcher.model import RefKind
from watcher.pins import batch, powershell
from watcher.pins.address import normalise
from watcher.pins.builds import BuildReader, overrides
from watcher.pins.checkout import Checkout
from watcher.pins.filling import filled, holes
from watcher.pins.format import Broken
from watcher.pins.scope import Scope
from watcher.pins.sites import Pick, Sighting
from watcher.pins.text import Place, Text, unknown, written
from watcher.pins.values import Value, just, named

_NAME = re.compile(r"jenkinsfile(?:[._-].*)?|.*\.jenkinsfile|.*\.jenkins", re.IGNORECASE)
_STRING = (
    r"(?:'''(?P<{0}a>.*?)'''|\"\"\"(?P<{0}b>.*?)\"\"\"|'(?P<{0}c>(?:[^'\\\n]|\\.)*)'|\"(?P<{0}d>(?:[^\"\\\n]|\\.)*)\")"
)
_STEP = re.compile(
    r"(?P<comment>/\*.*?\*/|(?<![:\w])//[^\n]*)"
    rf"|\b(?P<shell>sh|bat|pwsh|powershell)\b\s*\(?\s*(?:(?:label|returnStdout|returnStatus|encoding)\s*:\s*(?:[^,()\s][^,()\n]*)?,\s*)*(?:script\s*:\s*)?{_STRING.format('s')}"
    rf"|\b(?P<git>git)\b\s*\(?\s*(?P<arguments>(?:\w+\s*:\s*(?:'[^'\n]*'|\"[^\"\n]*\"|\w+)\s*,?\s*)+)"
    r"|\bGitSCM\b(?P<scm>.{0,1500}?\burl\s*:\s*(?:'[^'\n]*'|\"[^\"\n]*\"))"
    rf"|(?:\bdef\s+|\bstring\s+name\s*:\s*)?\b(?P<name>[A-Za-z_]\w*)\s*=\s*(?!=){_STRING.format('v')}",
    re.DOTALL | re.IGNORECASE,
)
_NAMED = re.compile(r"(?P<key>\w+)\s*:\s*(?P<quote>['\"])(?P<value>[^'\"\n]*)(?P=quote)")
_HOLE = re.compile(r"(?<!\\)\$\{(?:env\.|params\.)?(\w+)\}")
_PARAMETER = re.compile(
    r"\bstring\s*\(?\s*name\s*:\s*['\"](?P<name>\w+)['\"]\s*,\s*defaultValue\s*:\s*(?P<quote>['\"])(?P<value>[^'\"\n]*)(?P=quote)"
)


def claims(path: str) -> bool:
    """Answer whether a file is a Jenkinsfile."""
    return _NAME.fullmatch(path.rpartition("/")[2]) is not None


def parse(path: str, text: str, checkout: Checkout) -> Iterable[Sighting | Broken]:
    """Find what the steps do with upstreams."""
    source = written(text, path)
    reader = BuildReader(checkout)
    scope = Scope(cwd=just(unknown("workspace", Place(path, 1))))
    for found in _PARAMETER.finditer(text):
        scope.assign(found["name"], just(source[found.start("value") : found.end("value")].named(found["name"])))
    for found in _STEP.finditer(text):
        _step(found, source, scope, reader)
    yield from reader.finish()
    yield from overrides(reader.builds, checkout)
    if reader.is_exhausted:
        yield Broken(file=path, line=1, reason="too much to follow: what comes late in this file was not read")


def _step(found: re.Match[str], source: Text, scope: Scope, reader: BuildReader) -> None:
    if found["name"]:
        value = _filled(_string(found, source, "v"), scope, is_open=found["vb"] is not None or found["vd"] is not None)
        scope.assign(found["name"], named(just(value), found["name"]))
    elif found["shell"]:
        inner = scope.copy()
        text = _filled(_string(found, source, "s"), inner, is_open=found["sb"] is not None or found["sd"] is not None)
        match found["shell"].lower():
            case "bat":
                text = batch.as_shell(text)
            case "pwsh" | "powershell":
                text = powershell.as_shell(text)
        reader.run(text, inner)
        scope.folders = inner.folders
    elif found["git"] or found["scm"]:
        part = "arguments" if found["git"] else "scm"
        reader.picks += _checked_out(source[found.start(part) : found.end(part)], scope)


def _string(found: re.Match[str], source: Text, prefix: str) -> Text:
    name = next(prefix + letter for letter in "abcd" if found[prefix + letter] is not None)
    return source[found.start(name) : found.end(name)]


def _filled(text: Text, scope: Scope, *, is_open: bool) -> Text:
    """Put in the variables of a string in double quotes; those in single quotes are for the shell."""
    return filled(text, holes(text, _HOLE), lambda inner: _known(inner, scope), scope) if is_open else text


def _known(inner: Text, scope: Scope) -> Value | None:
    return scope.value(inner.chars)


def _checked_out(text: Text, scope: Scope) -> Iterator[Pick]:
    """Read `git url: '…', branch: '…'` and `[$class: 'GitSCM', branches: [[name: '…']], … url: '…']`."""
    values = {found["key"]: text[found.start("value") : found.end("value")] for found in _NAMED.finditer(text.chars)}
    url = values.get("url")
    upstream = normalise(_filled(url, scope, is_open=True).chars) if url else None
    ref = values.get("branch") or values.get("name")
    if url is None or upstream is None:
        return
    told = _filled(ref, scope, is_open=True) if ref else None
    if told is not None and told.chars.startswith("*/"):
        told = told[2:]
    is_branch = "branch" in values or (ref is not None and ref.chars.startswith("*/"))
    yield Pick(
        upstream=upstream,
        url=url,
        ref=told or None,
        command=(ref or url).place(),
        hint=RefKind.BRANCH if is_branch else None,
    )
