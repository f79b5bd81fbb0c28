"""What a value may be: alternatives, and the choices under which each of them holds.

A file has branches (`if`, `case`, `||`, several stages that an ARG chooses from). A variable set in one arm of a branch
has several alternatives afterwards; each one carries the arm it came from, so that a URL and a ref that were set in the
same arm meet again and those of different arms never do. The number of alternatives is bounded, so hostile input cannot
blow it up.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from watcher.pins.text import UNKNOWN, Text, joined, unknown
from watcher.pins.variant import ANY, variant_in

MOST = 24
"""No value keeps more alternatives than this; the first ones stay."""

_WAYS = 3
"""In so many ways a text may come about that are kept apart."""

LONGEST = 200_000
"""No value grows longer than this, however often a script doubles it."""


class Choice(NamedTuple):
    """One arm of one branch."""

    point: str
    """Names the branch; two branches on the same known condition share the name."""
    arm: int
    of: int
    """How many arms the branch has."""
    label: str = ""
    """What the arm says about the platform, as text of the condition or stage; may be empty."""
    is_unlikely: bool = False
    """The defaults in the file do not lead here: `-n "$X"` where X is empty unless somebody sets it."""
    is_default: bool = False
    """The defaults in the file lead here and nowhere else: `-n "$X"` where X has a value of its own."""


Guard = frozenset[Choice]
ALWAYS: Guard = frozenset()


class Case(NamedTuple):
    """One alternative of a value."""

    text: Text
    guard: Guard = ALWAYS


Value = tuple[Case, ...]


def just(text: Text) -> Value:
    """Return a value with one alternative."""
    return (Case(text),)


def is_compatible(one: Guard, other: Guard) -> bool:
    """Answer whether both can hold at once: they take no branch in two directions."""
    if not one or not other or one is other:
        return True
    rest = other - one
    if not rest:
        return True
    arms = _arms(one)
    for choice in rest:  # noqa: SIM110 - the innermost loop of all readers
        if arms.get(choice[0], choice[1]) != choice[1]:
            return False
    return True


@lru_cache(maxsize=2048)
def _arms(guard: Guard) -> Mapping[str, int]:
    return {choice.point: choice.arm for choice in guard}


def is_covered(guards: Sequence[Guard], within: Guard, depth: int = 6) -> bool:
    """Answer whether at least one of the guards holds wherever `within` does."""
    live = [guard - within for guard in guards if is_compatible(guard, within)]
    if any(not guard for guard in live):
        return True
    if not live or depth == 0:
        return False
    point = min(live, key=len)
    choice = min(point)
    arms = [Choice(choice.point, arm, choice.of) for arm in range(choice.of)]
    same = {(c.point, c.arm): c for guard in live for c in guard}
    return all(is_covered(live, within | {same.get((a.point, a.arm), a)}, depth - 1) for a in arms)


def distinct(cases: Iterable[Case]) -> Value:
    """Drop repeated alternatives and those beyond the bound.

    An alternative that comes about in a few ways keeps them apart, unless together they always hold; one that comes
    about in many holds wherever the arms common to all of them do. What is wholly unknown is one alternative. This
    keeps their number near the number of different texts, whatever the branches.
    """
    ways: dict[Text, list[Guard]] = {}
    texts: dict[Text | None, Text] = {}
    for text, guard in cases:
        kept = texts.setdefault(None if text.chars == UNKNOWN else text, text)
        if kept in ways:
            ways[kept] = _with_way(ways[kept], guard, is_vague=kept.chars == UNKNOWN)
        else:
            ways[kept] = [guard]
    if sum(map(len, ways.values())) > MOST:
        return tuple(Case(text, frozenset.intersection(*guards)) for text, guards in ways.items())[:MOST]
    return tuple(Case(text, guard) for text, guards in ways.items() for guard in guards)


def _with_way(ways: list[Guard], guard: Guard, *, is_vague: bool) -> list[Guard]:
    """Return the arms under which a text holds once a further way to it is known."""
    if any(way <= guard for way in ways):
        return ways
    both = [*(way for way in ways if not guard <= way), guard]
    if len(both) == 1:
        return both
    common = frozenset.intersection(*both)
    return [common] if is_vague or len(both) > _WAYS or is_covered(both, common) else both


def under(value: Value, guard: Guard) -> Value:
    """Return the alternatives that can hold together with the guard."""
    return tuple(case for case in value if is_compatible(case.guard, guard)) if guard else value


def concat(left: Value, right: Value) -> Value:
    """Put two values one after the other, alternative by alternative."""
    if len(left) == 1 and len(right) == 1:
        a, b = left[0], right[0]
        if not a.guard and (not a.text or not b.guard):
            return (Case(bounded(a.text, b.text), b.guard),)
    return distinct(
        Case(bounded(a.text, b.text), a.guard | b.guard) for a in left for b in right if is_compatible(a.guard, b.guard)
    )


def together(texts: Iterable[Text]) -> Text:
    """Put texts one after the other, as far as they go into one value."""
    kept, length = [], 0
    for text in texts:
        if length + len(text.chars) <= LONGEST:
            kept.append(text)
            length += len(text.chars)
    return kept[0] if len(kept) == 1 else joined(kept)


def bounded(left: Text, right: Text) -> Text:
    """Put two texts one after the other, unless that grows beyond what any address or ref can be."""
    if len(left.chars) + len(right.chars) > LONGEST:
        return left
    return left + right if left and right else left or right


def tagged(value: Value, guard: Guard) -> Value:
    """Return the value as it is where the guard was taken."""
    return tuple(Case(case.text, case.guard | guard) for case in value if is_compatible(case.guard, guard))


def named(value: Value, name: str) -> Value:
    """Return the value as the content of a variable."""
    return tuple(Case(case.text.named(name), case.guard) for case in value)


def merged(values: Sequence[tuple[Guard, Value | None]], name: str) -> Value:
    """Return what a variable may be after a branch whose arms left these values; None is unset in that arm."""
    cases: list[Case] = []
    for guard, value in values:
        if value is None:
            place = next((case.text.place() for _, other in values if other for case in other), None)
            value = just(unknown(name, place)) if place else ()  # noqa: PLW2901 - the unset arm as a value
        cases += tagged(value, guard)
    known = [case for case in cases if case.text.chars != UNKNOWN]
    if len(known) < len(cases) and len({case.text for case in known}) == 1 and not _tells(known[0].guard):
        return just(known[0].text)  # set to a default, or by somebody outside
    texts = {case.text for case in cases}
    return just(cases[0].text) if len(texts) == 1 and len(values) > 1 and _is_total(cases, values) else distinct(cases)


def _tells(guard: Guard) -> bool:
    return any(variant_in(choice.label) != ANY for choice in guard)


def _is_total(cases: Sequence[Case], values: Sequence[tuple[Guard, Value | None]]) -> bool:
    return all(any(is_compatible(case.guard, guard) for case in cases) for guard, _ in values)
