"""Terraform, OpenTofu and Terragrunt: modules whose source is a git repository."""

import re
from collections.abc import Iterable, Iterator

from watcher.pins import hcltext
from watcher.pins.address import normalise
from watcher.pins.checkout import Checkout
from watcher.pins.format import Broken
from watcher.pins.hcltext import Block, Expression
from watcher.pins.sites import Pick, Sighting
from watcher.pins.text import UNKNOWN, Text
from watcher.pins.values import Value, named

_GIT = re.compile(r"git::(?P<url>[^?#]+)(?:\?(?P<query>.*))?", re.DOTALL)
_KNOWN = re.compile(
    r"(?P<url>(?:https?://)?(?:github\.com|bitbucket\.org|gitlab\.com)/[\w.-]+/[\w.-]+|git@[\w.-]+:[^?#]+)(?P<rest>/[^?#]*)?(?:\?(?P<query>.*))?"
)
_FOLDER = re.compile(r"(?<=[^:])//.*")
_DEEPEST = 12


def claims(path: str) -> bool:
    """Answer whether a file holds modules of Terraform or units of Terragrunt."""
    name = path.rpartition("/")[2].lower()
    return name.endswith((".tf", ".tofu")) or name in {"terragrunt.hcl", "root.hcl", "terragrunt.stack.hcl"}


def parse(path: str, text: str, _: Checkout) -> Iterable[Sighting | Broken]:
    """Find the modules that come from a repository; those of a registry have versions."""
    if "source" not in text:
        return
    root, broken = hcltext.read(text, path)
    yield from broken
    names = _Names(root)
    stack = [root]
    while stack:
        block = stack.pop()
        stack += reversed(block.blocks)
        if block.kind in {"module", "terraform", "unit", "stack"} and "source" in block.attributes:
            for case in block.attributes["source"].value(names):
                yield from _source(case.text, block)


class _Names:
    """Looks up `local.x` and `var.x` by what the file sets."""

    def __init__(self, root: Block) -> None:
        self._known: dict[str, Expression] = {}
        for block in root.blocks:
            if block.kind == "locals":
                self._known |= {f"local.{name}": value for name, value in block.attributes.items()}
            elif block.kind == "variable" and "default" in block.attributes:
                self._known[f"var.{block.name}"] = block.attributes["default"]
        self._open: set[str] = set()

    def __call__(self, name: str) -> Value | None:
        expression = self._known.get(name)
        if expression is None or name in self._open or len(self._open) > _DEEPEST:
            return None
        self._open.add(name)
        try:
            return named(expression.value(self), name.partition(".")[2])
        finally:
            self._open.discard(name)


def _source(source: Text, block: Block) -> Iterator[Sighting]:
    """Read `git::https://host/a/b.git//folder?ref=v1`, `github.com/a/b//folder?ref=v1`, `git@host:a/b.git?ref=v1`."""
    found = _GIT.fullmatch(source.chars) or _KNOWN.fullmatch(source.chars)
    if found is None or UNKNOWN in found["url"]:
        return
    address = _FOLDER.sub("", found["url"])
    known = address if re.match(r"[\w+.-]+://|[\w.-]+@", address) else f"https://{address}"
    upstream = normalise(known)
    if upstream is None:
        return
    ref = None
    if found["query"]:
        asked = re.search(r"(?:^|&)ref=([^&]*)", found["query"])
        start = found.start("query")
        ref = source[start + asked.start(1) : start + asked.end(1)] if asked else None
    yield Pick(upstream=upstream, url=source, ref=ref or None, command=source.place(), labels=(block.name,)).sighting()
