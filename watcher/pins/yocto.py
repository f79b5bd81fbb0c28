"""BitBake recipes: `SRC_URI` with git addresses, `SRCREV` for each of them by name, archives at a ref."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from watcher.model import RefKind
from watcher.pins.checkout import Checkout
from watcher.pins.format import Broken
from watcher.pins.sites import Pick, Sighting
from watcher.pins.sources import archive, repository, requested
from watcher.pins.text import Place, Span, Text, joined, unknown, written
from watcher.refkind import is_commit

_ASSIGNMENT = re.compile(
    r"\s*(?:export\s+)?(?P<name>[A-Za-z_][\w.+${}-]*?)(?P<suffix>(?::[\w.+/${}-]+)*)\s*"
    r"(?P<how>\?\?=|\?=|:=|\+=|=\+|\.=|=\.|=)\s*(?P<value>.*)",
    re.DOTALL,
)
_FUNCTION = re.compile(r"\s*(?:python|fakeroot)?\s*[\w:${}.-]*\s*\(\)\s*\{|\s*(?:async\s+)?def\s+\w+\s*\(")
_INCLUDE = re.compile(r"\s*(?:require|include)\s+(?P<name>\S+)|\s*inherit\s+.*")
_VARIABLE = re.compile(r"\$\{([A-Za-z_][\w-]*)\}|\$\{@[^}]*\}")
_URI = re.compile(r"(?:git|gitsm|https?|ftp|ssh)://\S+|\S+")
_OPERATIONS = frozenset({"append", "prepend", "remove"})
_INCLUDES = 12
_DEEPEST = 12
_LONGEST = 8_000
_MOST_LINES = 2_000


def claims(path: str) -> bool:
    """Answer whether a file is a recipe, an append to one, or an include."""
    name = path.rpartition("/")[2]
    return name.endswith((".bb", ".bbappend", ".bbclass")) or (name.endswith(".inc") and _is_layer(path))


def _is_layer(path: str) -> bool:
    return any(part.startswith(("recipes", "meta", "conf")) for part in path.split("/")[:-1])


def parse(path: str, text: str, checkout: Checkout) -> Iterable[Sighting | Broken]:
    """Find the revisions of a recipe."""
    if "SRC" not in text:
        return
    recipe = _Recipe(path=path, checkout=checkout)
    base = _base(path, checkout) if path.endswith(".bbappend") else None
    if base is not None:
        recipe.read(base, checkout.texts[base], ())
    recipe.read(path, text, ())
    yield from recipe.broken[:1]
    for sighting in recipe.sightings():
        if sighting.pin.file == path or (base is None and not path.endswith(".bbappend")):
            yield sighting


def _is_recipe(path: str) -> bool:
    return path.endswith(".bb")


def _base(path: str, checkout: Checkout) -> str | None:
    """Return the recipe that an append belongs to, where the checkout holds it."""
    stem = PurePosixPath(path).name.removesuffix(".bbappend")
    pattern = re.compile(re.escape(stem).replace("%", ".*") + r"\.bb")
    alike = [name for name in checkout.like(_is_recipe) if pattern.fullmatch(name.rpartition("/")[2])]
    return max(alike, default=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Value:
    """One assignment."""

    text: Text
    overrides: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Source:
    """One entry of SRC_URI."""

    scheme: str
    url: Text
    parameters: dict[str, Text]
    overrides: tuple[str, ...]


@dataclass(slots=True, kw_only=True, eq=False)
class _Recipe:
    """The variables of a recipe with all that it includes."""

    path: str
    checkout: Checkout
    values: dict[str, list[_Value]] = field(default_factory=dict)
    broken: list[Broken] = field(default_factory=list)
    is_partial: bool = False
    """Something that it includes is not in the checkout."""

    # --- reading ------------------------------------------------------------------------------------------------------

    def read(self, path: str, text: str, seen: tuple[str, ...]) -> None:
        """Read one file."""
        for line in _statements(path, text):
            include = _INCLUDE.fullmatch(line.chars)
            if include:
                self._include(include["name"], path, seen)
                continue
            found = _ASSIGNMENT.fullmatch(line.chars)
            if found:
                self._assign(found, line)
            elif path == self.path and not _is_other(line.chars) and not self.broken:
                place = line.place()
                self.broken.append(
                    Broken(
                        file=path, line=place.line, reason=f"expected an assignment, found {line.chars.strip()[:60]!r}"
                    )
                )

    def _include(self, name: str | None, path: str, seen: tuple[str, ...]) -> None:
        if name is None:
            return
        plain = _VARIABLE.sub(lambda found: self._builtin(found[1] or "") or "\ue000", name)
        found = self.checkout.find(plain, path)
        if found is None or found in seen or found == path or len(seen) >= _INCLUDES:
            self.is_partial = True
            return
        self.read(found, self.checkout.texts[found], (*seen, path))

    def _assign(self, found: re.Match[str], line: Text) -> None:
        name, overrides = found["name"], tuple(part for part in found["suffix"].split(":") if part)
        for operation in _OPERATIONS:  # the spelling before version 3.4
            if f"_{operation}" in name:
                name, _, rest = name.partition(f"_{operation}")
                overrides = (operation, *(part for part in rest.split("_") if part))
        raw = line[found.start("value") : found.end("value")]
        quote = raw.chars[:1]
        end = raw.chars.rfind(quote) if quote and quote in "\"'" else -1
        text = raw[1:end] if end > 0 else raw
        if "remove" in overrides:
            return
        entry = _Value(text=text, overrides=tuple(part for part in overrides if part not in _OPERATIONS))
        is_added = (
            found["how"] in {"+=", "=+", ".=", "=."} or bool(_OPERATIONS & set(overrides)) or bool(entry.overrides)
        )
        is_weak = found["how"] in {"?=", "??="}
        kept = self.values.setdefault(name, [])
        if is_weak and any(not value.overrides for value in kept) and not entry.overrides:
            return
        if not is_added:
            kept[:] = [value for value in kept if value.overrides]
        elif entry.overrides and not _OPERATIONS & set(overrides):
            kept[:] = [value for value in kept if value.overrides != entry.overrides]
        kept.append(entry)

    # --- values -------------------------------------------------------------------------------------------------------

    def expanded(self, text: Text, depth: int = _DEEPEST) -> Text:
        """Put variables into a text."""
        parts, last = [], 0
        for found in _VARIABLE.finditer(text.chars):
            parts.append(text[last : found.start()])
            last = found.end()
            parts.append(self._variable(found[1] or "", text.place(found.start()), depth))
            if sum(len(part.chars) for part in parts) > _LONGEST:
                return joined(parts)
        return joined((*parts, text[last:]))

    def _variable(self, name: str, place: Place, depth: int) -> Text:
        values = [value for value in self.values.get(name, ()) if not value.overrides]
        if name == "AUTOREV":
            return Text((Span("AUTOINC", place, name),))
        if values and depth:
            return self.expanded(joined(value.text for value in values), depth - 1).named(name)
        builtin = self._builtin(name)
        return written(builtin, *place) if builtin else unknown(name, place)

    def _builtin(self, name: str) -> str:
        """Return what the name of the recipe's file tells."""
        stem = PurePosixPath(self.path).name.rsplit(".", 1)[0]
        base, _, version = stem.partition("_")
        known = {"PN": base, "BPN": base, "PV": version, "BP": f"{base}-{version}", "P": f"{base}-{version}"}
        known["GITHUB_BASE_URI"] = f"https://github.com/{base}/{base}/releases/"
        return known.get(name, "") if "%" not in stem else ""

    # --- pins ---------------------------------------------------------------------------------------------------------

    def sightings(self) -> Iterator[Sighting]:
        """Yield what the sources of the recipe pin."""
        sources = list(self._sources())
        names = {name for source in sources for name in _names(source)}
        for source in sources:
            if source.scheme in {"git", "gitsm"}:
                yield from self._git(source, names)
            else:
                found = archive(source.url, source.url.place(), labels=source.overrides)
                if found is not None:
                    yield found.sighting()

    def _sources(self) -> Iterator[_Source]:
        values = [value for name in ("SRC_URI", "PYPI_SRC_URI") for value in self.values.get(name, ())]
        for value in values:
            text = self.expanded(value.text)
            for found in _URI.finditer(text.chars):
                source = _source(text[found.start() : found.end()], value.overrides)
                if source is not None:
                    yield source

    def _git(self, source: _Source, names: set[str]) -> Iterator[Sighting]:
        branch = source.parameters.get("branch")
        branch_name = branch.chars if branch is not None and branch.is_known else None
        tag = source.parameters.get("tag")
        fixed = tag or source.parameters.get("rev")
        revisions = [revision for name in _names(source) or [""] for revision in self._revisions(name, names)]
        if fixed is not None and not revisions:
            hint = RefKind.TAG if tag else None
            yield from _sighting(
                repository(source.url, fixed, fixed.place(), hint=hint, labels=source.overrides), branch_name
            )
            return
        wanted = tag.chars if tag is not None and tag.is_known else None
        for revision in revisions:
            text = self.expanded(revision.text)
            labels = (*revision.overrides, *source.overrides)
            if text.chars in {"AUTOINC", ""}:
                pick = repository(source.url, branch, source.url.place(), hint=RefKind.BRANCH, labels=labels)
                yield from _sighting(pick, None)
            else:
                pick = repository(source.url, text, text.place(), labels=labels)
                for sighting in _sighting(pick, branch_name):
                    yield requested(sighting, wanted)
        if not revisions and self.path.endswith(".bb"):
            place = source.url.place()
            yield from _sighting(
                repository(source.url, unknown("SRCREV", place), place, labels=source.overrides), branch_name
            )

    def _revisions(self, name: str, names: set[str]) -> list[_Value]:
        """Return the revisions of a named source, else the one for all."""
        own = [value for key in ((f"SRCREV_{name}",) if name else ()) for value in self.values.get(key, ())]
        if own:
            return own
        general = list(self.values.get("SRCREV", ()))
        others = [
            _Value(text=value.text, overrides=(key.removeprefix("SRCREV_"), *value.overrides))
            for key, values in self.values.items()
            if key.startswith("SRCREV_") and key.removeprefix("SRCREV_") not in {*names, "FORMAT"}
            for value in values
            if is_commit(value.text.chars)
        ]
        return [*general, *others]


def _sighting(pick: Pick | None, branch: str | None) -> Iterator[Sighting]:
    if pick is not None:
        is_fixed = pick.kind in {RefKind.SHA, RefKind.SHORT_SHA, RefKind.TAG}
        yield pick.sighting(branch if is_fixed else None)


def _source(text: Text, overrides: tuple[str, ...]) -> _Source | None:
    """Read one address with its `;key=value` parameters."""
    scheme, _, rest = text.chars.partition("://")
    if not rest or scheme not in {"git", "gitsm", "http", "https"}:
        return None
    end = text.chars.find(";")
    address = text[: end if end >= 0 else len(text.chars)]
    parameters: dict[str, Text] = {}
    for found in re.finditer(r";(\w+)=([^;]*)", text.chars):
        parameters[found[1]] = text[found.start(2) : found.end(2)]
    if scheme == "gitsm":
        address = joined((Text((Span("git", address.place()),)), address[len("gitsm") :]))
    protocol = parameters["protocol"].chars if "protocol" in parameters else ""
    if protocol == "file" or address.chars.startswith("git:///"):
        return None
    if protocol in {"http", "https"} and scheme in {"git", "gitsm"}:
        address = joined((Text((Span(protocol, address.place()),)), address[len("git") :]))
    return _Source(scheme=scheme, url=address, parameters=parameters, overrides=overrides)


def _names(source: _Source) -> list[str]:
    name = source.parameters.get("name")
    return [part for part in name.chars.split(",") if part] if name is not None else []


def _is_other(line: str) -> bool:
    """Answer whether a line is a statement of another kind, which cannot hold a source."""
    return (
        bool(
            re.match(
                r"\s*(?:addtask|deltask|addhandler|EXPORT_FUNCTIONS|unset|inherit|inherit_defer|addpylib|python\b|export\s|\w[\w:+.${}-]*\[)",
                line,
            )
        )
        or not line.strip()
    )


def _statements(path: str, text: str) -> Iterator[Text]:
    """Yield the logical lines outside functions: comments gone, continuations joined."""
    source = written(text, path)
    parts: list[Text] = []
    depth = ""
    for found in re.finditer(r"[^\n]*\n?", source.chars):
        line = source[found.start() : found.end()]
        plain = line.chars.rstrip("\n")
        if depth:
            is_end = (
                plain.startswith("}")
                if depth == "{"
                else bool(plain) and not plain[0].isspace() and not plain.startswith("#")
            )
            if not is_end:
                continue
            is_python = depth == "def"
            depth = ""
            if not is_python:
                continue
        if not parts and plain.lstrip().startswith("#"):
            continue
        function = _FUNCTION.match(plain) if not parts else None
        if function:
            depth = "def" if "def " in function[0] else "{"
            continue
        if plain.endswith("\\"):
            parts.append(line[: len(plain) - 1])
            if len(parts) < _MOST_LINES:
                continue
            yield joined(parts)
            parts = []
            continue
        parts.append(line[: len(plain)])
        yield joined(parts)
        parts = []
    if parts:
        yield joined(parts)
