"""Gather the argument about pins as the last look left it: nobody is asked, and no program is started."""

from collections.abc import Iterable, Mapping

from watcher.conclusion import account_of, conclusion_of
from watcher.config import Settings
from watcher.drawing import Drawing
from watcher.facts import VERSION, from_fact
from watcher.model import Pin
from watcher.report.explain import Argument
from watcher.store import Store
from watcher.upstreams import mirror_folder


def arguments(
    settings: Settings, store: Store, upstream: str, pins: Iterable[Pin]
) -> tuple[Mapping[str, Argument], Drawing]:
    """Return the argument about each of an upstream's pins as of the last look, by id, and the drawing of its history.

    Both are empty where nothing was looked at yet, or by another version only.
    """
    held = store.accounted(upstream)
    try:
        concluded, account = (conclusion_of(held[0]), account_of(held[1])) if held else (None, None)
    except ValueError:  # written by another version: the next look works it out anew
        concluded = account = None
    if concluded is None or account is None:
        return {}, Drawing()
    facts = store.facts(upstream, "repair", VERSION)
    repairs = {
        fix.change.landing: from_fact(fix.change.landing, facts[fix.change.landing])
        for fix in account.fixes.values()
        if fix.change.landing in facts
    }
    made = {it.pin: it for it in concluded.suggestions}
    pages, mirror = settings.pages(upstream), str(mirror_folder(settings, upstream))
    found = {
        pin.id: Argument(
            pin=pin,
            commit=concluded.commits.get(pin.id),
            reachability=reach,
            bound=account.bound,
            verdicts={it.fix: it for it in account.verdicts.get(pin.id, ())},
            fixes=account.fixes,
            repairs=repairs,
            single=account.single.get(pin.id, {}),
            suggestion=made.get(pin.id),
            pages=pages,
            mirror=mirror,
        )
        for pin in pins
        if (reach := concluded.reachability.get(pin.id))
    }
    return found, account.drawing
