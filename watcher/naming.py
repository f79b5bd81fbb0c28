"""The stable name of a pin: it survives a bump and lines that move."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from watcher.model import Pin


def identify(pins: Iterable[Pin], downstream: str = "") -> tuple[Pin, ...]:
    """Give each pin its downstream and its id, `<downstream>:<file>:<name>`.

    The variant follows where a file has several of one upstream; the owner precedes where a file has two upstreams of
    one name; `#2`, `#3` tell apart what is still equal, by line. Neither the ref nor the line is part of it.
    """
    ordered = sorted(pins, key=lambda pin: (pin.file, pin.line))
    upstreams: dict[tuple[str, str], set[str | None]] = {}
    variants: dict[tuple[str, str | None, str], set[str]] = {}
    for pin in ordered:
        upstreams.setdefault((pin.file, pin.name), set()).add(pin.upstream)
        variants.setdefault((pin.file, pin.upstream, pin.name), set()).add(pin.variant)
    seen: Counter[str] = Counter()
    named: list[Pin] = []
    for pin in ordered:
        name = _name(pin, upstreams[pin.file, pin.name])
        variant = f":{pin.variant}" if len(variants[pin.file, pin.upstream, pin.name]) > 1 else ""
        plain = ":".join(part for part in (downstream, pin.file, name) if part) + variant
        seen[plain] += 1
        suffix = f"#{seen[plain]}" if seen[plain] > 1 else ""
        named.append(replace(pin, downstream=downstream, id=plain + suffix))
    return tuple(named)


def _name(pin: Pin, alike: set[str | None]) -> str:
    """Return the name, with as much of the address before it as tells it from the others in the file."""
    if len(alike) == 1 or pin.upstream is None:
        return pin.name
    owned = "/".join(pin.upstream.split("/")[-2:])
    is_unique = sum(other is not None and other.endswith("/" + owned) for other in alike) == 1
    return owned if is_unique else pin.upstream.partition("://")[2]
