"""What a step hands to an action: checkouts of other repositories, addresses, build arguments."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from watcher.pins.address import archive_urls, context_source, normalise, vcs_urls
from watcher.pins.builds import Build, BuildReader
from watcher.pins.scope import Scope
from watcher.pins.sites import Pick, Site
from watcher.pins.text import Text
from watcher.pins.tree import Leaf, Table
from watcher.pins.values import Case, Value, is_compatible, just, named, under
from watcher.pins.workflowcontexts import Contexts

_OWNER = re.compile(r"[\w.-]+/[\w.-]+")
_BUILD_ARGS = re.compile(r"(?:[\w-]*[-_])?build[-_]?args?", re.IGNORECASE)
_PAIR = re.compile(r"(?P<prefix>[\w-]*?[-_]?)(?:repository|repo)")
_OWN = re.compile(r"\bgithub\.|\bgitea\.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """One use of an action, with what is known where it stands."""

    file: str
    inputs: Table
    env: Mapping[str, Value]
    scope: Scope
    contexts: Contexts
    reader: BuildReader
    own: frozenset[str]
    """The upstreams that are this very repository."""

    def value(self, text: Text) -> Value:
        """Return what an input may be."""
        return self.contexts.value(text, self.env)

    def one(self, text: Text) -> Text:
        """Return the first of what an input may be in a step."""
        value = self.contexts.value(text, self.scope.variables)
        return value[0].text if value else Text()


def is_build_input(key: str) -> bool:
    """Answer whether an input says what is built, and with what."""
    return key in {"context", "build-contexts"} or _BUILD_ARGS.fullmatch(key) is not None


def checked_out(use: Use) -> None:
    """Read a checkout of another repository: `repository`, `ref`, `path`."""
    repository = use.inputs.text("repository", "repo", "url")
    if repository is None or _OWN.search(repository.chars):
        return
    ref, path = use.inputs.text("ref", "branch", "tag"), use.inputs.text("path", "directory")
    for case in use.value(repository):
        upstream = _upstream(case.text)
        if upstream is not None:
            _settle(use, upstream, case, ref, path or repository[len(repository.chars.rpartition("/")[0]) + 1 :])


def _settle(use: Use, upstream: str, case: Case, ref: Text | None, path: Text) -> None:
    refs: Value = use.value(ref) if ref is not None else ()
    if upstream in use.own or (ref is not None and _OWN.search(ref.chars) and not any(c.text.is_known for c in refs)):
        return
    for one in refs or just(Text()):
        if not is_compatible(case.guard, one.guard):
            continue
        guard = use.scope.guard | case.guard | one.guard
        place = ref.place() if ref is not None else case.text.place()
        pick = Pick(
            upstream=upstream, url=case.text, ref=one.text or None, command=place, guard=guard, labels=use.scope.labels
        )
        site = Site(origin=pick, guard=guard, remotes={"origin": (upstream, case.text)})
        use.reader.sites.append(site)
        use.scope.settle(site, use.one(path))


def _upstream(text: Text) -> str | None:
    if not text.is_known:
        return None
    return normalise(f"https://github.com/{text.chars}") if _OWNER.fullmatch(text.chars) else normalise(text.chars)


def pairs(use: Use) -> None:
    """Read inputs that come in pairs: `x-repository` and `x-ref`."""
    for key, leaf in use.inputs.entries:
        found = _PAIR.fullmatch(key.chars)
        if found is None or not isinstance(leaf, Leaf) or _OWN.search(leaf.text.chars):
            continue
        prefix = found["prefix"]
        ref = next(
            (
                node
                for word in ("ref", "sha", "commit", "tag", "branch", "rev")
                if isinstance(node := use.inputs.get(prefix + word), Leaf)
            ),
            None,
        )
        if ref is None or not ref.text:
            continue
        for case in use.value(leaf.text):
            upstream = _upstream(case.text)
            for one in use.value(ref.text):
                is_told = one.text and one.text.is_known and is_compatible(case.guard, one.guard)
                if upstream and upstream not in use.own and is_told:
                    pick = Pick(
                        upstream=upstream, url=case.text, ref=one.text, command=ref.text.place(),
                        guard=use.scope.guard | case.guard | one.guard, labels=use.scope.labels,
                    )  # fmt: skip
                    use.reader.picks.append(pick)


def addresses(use: Use, text: Text) -> None:
    """Read the addresses in an input that holds no commands."""
    for offset, source in (*vcs_urls(text.chars), *archive_urls(text.chars)):
        url = text[offset:]
        ref = url[source.ref.start : source.ref.end] if source.ref else None
        if "${{" in (ref.chars if ref else "") or "${{" in source.upstream:
            continue
        use.reader.picks.append(
            Pick(
                upstream=source.upstream,
                url=url,
                ref=ref,
                command=url.place(),
                guard=use.scope.guard,
                labels=use.scope.labels,
                hint=source.hint,
            )
        )


def image_builds(use: Use) -> Iterator[Build]:
    """Read the contexts of an image build; yield the build where it is given arguments."""
    for key in ("context", "build-contexts"):
        for line in _lines(use.inputs.text(key)):
            _context(use, line[line.chars.find("=") + 1 :] if key == "build-contexts" else line)
    arguments = _build_arguments(use)
    if not arguments:
        return
    file, context = use.inputs.text("file", "dockerfile"), use.inputs.text("context")
    for case in use.value(file) if file else just(Text()):
        yield Build(
            caller=use.file,
            target=case.text.key,
            context=use.one(context).key if context else "",
            arguments={name: under(value, case.guard) for name, value in arguments.items()},
            labels=(*(choice.label for choice in case.guard if choice.label), *use.scope.labels),
        )


def _build_arguments(use: Use) -> dict[str, Value]:
    arguments: dict[str, Value] = {}
    for key, leaf in use.inputs.entries:
        for line in _lines(leaf.text) if isinstance(leaf, Leaf) and _BUILD_ARGS.fullmatch(key.chars) else ():
            name, equals, _ = line.chars.partition("=")
            if equals and re.fullmatch(r"[A-Za-z_]\w*", name):
                arguments[name] = named(use.value(line[len(name) + 1 :]), name)
    return arguments


def _context(use: Use, text: Text) -> None:
    for case in use.value(text):
        source = context_source(case.text.chars)
        if source is not None and case.text.is_known:
            ref = case.text[source.ref.start : source.ref.end] if source.ref else None
            use.reader.picks.append(
                Pick(
                    upstream=source.upstream,
                    url=case.text,
                    ref=ref,
                    command=case.text.place(),
                    guard=use.scope.guard,
                    labels=use.scope.labels,
                )
            )


def _lines(text: Text | None) -> Iterator[Text]:
    for found in re.finditer(r"\S[^\n]*", text.chars if text else ""):
        line = text[found.start() : found.end()] if text else Text()
        if not line.chars.startswith("#"):
            stripped = line[: len(line.chars.rstrip())]
            is_quoted = (
                stripped.chars[:1] in {'"', "'"}
                and stripped.chars[-1:] == stripped.chars[:1]
                and len(stripped.chars) > 1
            )
            yield stripped[1:-1] if is_quoted else stripped
