"""Gather the argument about pins as the last look left it: nobody is asked, and no program is started."""

from collections.abc import Mapping

from watcher.conclusion import account_of, conclusion_of
from watcher.config import Settings
from watcher.drawing import Drawing
from watcher.facts import VERSION, from_fact
from watcher.report.explain import Argument
from watcher.store import Store
from watcher.upstreams import mirror_folder


def arguments(settings: Settings, store: Store, upstream: str) -> tuple[Mapping[str, Argument], Drawing]:
    """Return the argument about each pin of an upstream as of the last look, by id, and the drawing of its history.

    Both are empty where nothing was looked at yet, or by another version only.
    """
    held = store.accounted(upstream)
    if held is None:
        return {}, Drawing()
    concluded, account = conclusion_of(held[0]), account_of(held[1])
    facts = store.facts(upstream, "repair", VERSION)
    repairs = {
        fix.change.landing: from_fact(fix.change.landing, facts[fix.change.landing])
        for fix in account.fixes.values()
        if fix.change.landing in facts
    }
    made = {it.pin: it for it in concluded.suggestions}
    pins = {pin.id: pin for reading in store.readings().values() for pin in reading.pins if pin.upstream == upstream}
    pages, mirror = settings.pages(upstream), str(mirror_folder(settings, upstream))
    found = {
        name: Argument(
            pin=pins[name],
            commit=concluded.commits.get(name),
            reachability=reach,
            bound=account.bound,
            verdicts={it.fix: it for it in account.verdicts.get(name, ())},
            fixes=account.fixes,
            repairs=repairs,
            single=account.single.get(name, {}),
            suggestion=made.get(name),
            pages=pages,
            mirror=mirror,
        )
        for name, reach in concluded.reachability.items()
        if name in pins
    }
    return found, account.drawing
