"""Workflows and composite actions of GitHub, Gitea and Forgejo: `uses:`, checkouts, build arguments, a shell in `run:`.

Expressions (`${{ env.X }}`) are put in before the shell reads a step: variables of the workflow, the job and the step,
values of a matrix, defaults of inputs, outputs of earlier steps. What a caller hands to a workflow or an action of the
same checkout is the caller's pin.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import PurePosixPath

from watcher.pins import yamltext
from watcher.pins.address import normalise
from watcher.pins.builds import written_out
from watcher.pins.checkout import Checkout
from watcher.pins.format import Broken
from watcher.pins.sites import Sighting
from watcher.pins.text import Place
from watcher.pins.tree import Table
from watcher.pins.workflowcontexts import is_telling
from watcher.pins.workflowjobs import Call, Flow

_OWN_NAME = re.compile(r"github\.repository\s*[!=]=\s*'([\w.-]+/[\w.-]+)'")
_DEEPEST = 3
_MOST_CALLS = 12


def claims(path: str) -> bool:
    """Answer whether a file is a workflow or an action."""
    if not path.endswith((".yml", ".yaml")):
        return False
    return (
        PurePosixPath(path).stem == "action"
        or re.search(r"(?:^|/)\.(?:github|gitea|forgejo)/(?:workflows|actions)/", path) is not None
    )


def parse(path: str, text: str, checkout: Checkout) -> Iterable[Sighting | Broken]:
    """Find the pins of a workflow or an action."""
    reading = yamltext.read(text, path)
    if reading.problem:
        yield Broken(file=path, line=reading.problem.line, reason=reading.problem.reason)
    if not isinstance(reading.root, Table):
        return
    flow = Flow(path=path, checkout=checkout, own=_own(text, checkout))
    flow.read(reading.root, {})
    found = list(flow.finish())
    yield from found
    seen = [one for one in found if isinstance(one, Sighting)]
    calls = {f"{call.file} {written_out(call.inputs)}": call for call in flow.calls}
    for call in list(calls.values())[:_MOST_CALLS]:
        yield from _called(call, checkout, seen, 0)


def _own(text: str, checkout: Checkout) -> frozenset[str]:
    """Return the addresses of this very repository: its origin, and what the workflow compares its own name with."""
    named = {normalise(f"https://github.com/{found[1]}") for found in _OWN_NAME.finditer(text)}
    return frozenset(address for address in (*named, checkout.origin and normalise(checkout.origin)) if address)


# --- calls of other files ---------------------------------------------------------------------------------------------


def _called(call: Call, checkout: Checkout, seen: Sequence[Sighting], depth: int) -> Iterator[Sighting]:
    """Yield the pins that a called file makes of what it was handed."""
    given = {
        name: told
        for name, value in call.inputs.items()
        if (told := tuple(c for c in value if c.text and c.text.is_known))
    }
    reading = yamltext.read(checkout.texts[call.file], call.file)
    if not any(map(is_telling, given.values())) or not isinstance(reading.root, Table) or depth > _DEEPEST:
        return
    flow = Flow(path=call.file, checkout=checkout, own=_own(checkout.texts[call.file], checkout))
    flow.read(reading.root, given)
    places = {span.place for value in given.values() for case in value for span in case.text.spans}
    known = {(s.pin.place, s.pin.upstream, s.pin.ref) for s in seen}
    changed = [
        found
        for found in flow.finish()
        if isinstance(found, Sighting) and found.pin.ref and Place(found.pin.file, found.pin.line) in places
    ]
    yield from _linked([one for one in changed if (one.pin.place, one.pin.upstream, one.pin.ref) not in known], flow)
    for further in flow.calls[:_MOST_CALLS]:
        yield from _called(further, checkout, seen, depth + 1)


def _linked(changed: Sequence[Sighting], flow: "Flow") -> Iterator[Sighting]:
    """Say of each pin of a caller which default of the called file it replaces."""
    if not changed:
        return
    plain = Flow(path=flow.path, checkout=flow.checkout, own=flow.own)
    root = yamltext.read(flow.checkout.texts[flow.path], flow.path).root
    plain.read(root if isinstance(root, Table) else Table(root.place), {})
    defaults = [found for found in plain.finish() if isinstance(found, Sighting) and found.pin.ref]
    for found in changed:
        same = [one.pin for one in defaults if one.command == found.command and one.pin.upstream == found.pin.upstream]
        place = same[0].place if same and same[0].place != found.pin.place else None
        yield found._replace(pin=replace(found.pin, overrides=found.pin.overrides or place))
