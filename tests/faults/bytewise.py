"""What servers make of a right answer: cut, dripping, of another length than they say, packed or not as they say."""

import gzip
import time
from collections.abc import Callable, Iterator
from itertools import pairwise

from watcher.demo.server import Reply, Said

_BOMB = 64 * 1024 * 1024


def answer(reply: Reply, payload: bytes, *headers: str) -> bytes:
    """Return an answer as it goes over the wire, with these headers for its length and encoding."""
    own = [f"{name}: {value}" for name, value in reply.headers.items()]
    return "\r\n".join([f"HTTP/1.1 {reply.code} OK", *own, *headers, "", ""]).encode() + payload


def told(length: Callable[[int], str]) -> Said:
    """Tell another length: headers, made from the right one."""
    return Said(instead=lambda reply: [answer(reply, reply.payload, *length(len(reply.payload)).split("\n"))])


def cut(index: int, *, is_honest: bool = True, spread: int = 0) -> Said:
    """Cut the answer at one of its `positions`, and say so in its length or not."""

    def instead(reply: Reply) -> list[bytes]:
        places = positions(reply.payload, spread)
        said = reply.payload[: places[index % len(places)]]
        return [answer(reply, said, f"Content-Length: {len(said if is_honest else reply.payload)}")]

    return Said(instead=instead)


def dripping(pause: float) -> Said:
    """Send one byte after the other."""

    def instead(reply: Reply) -> Iterator[bytes]:
        for byte in answer(reply, reply.payload, f"Content-Length: {len(reply.payload)}"):
            yield bytes([byte])
            time.sleep(pause)

    return Said(instead=instead)


def gzipped(payload: bytes | None = None) -> Said:
    """Say that the answer is compressed: as it would be, or these bytes."""

    def instead(reply: Reply) -> list[bytes]:
        body = gzip.compress(reply.payload) if payload is None else payload or reply.payload
        return [answer(reply, body, "Content-Encoding: gzip", f"Content-Length: {len(body)}")]

    return Said(instead=instead)


def bomb() -> bytes:
    """Return a few kilobytes that become very many zeros."""
    return gzip.compress(bytes(_BOMB))


def replaced(old: bytes, new: bytes) -> Said:
    """Say something else of the same length in place of what stands there."""

    def instead(reply: Reply) -> list[bytes]:
        return [answer(reply, reply.payload.replace(old, new), f"Content-Length: {len(reply.payload)}")]

    return Said(instead=instead)


def positions(payload: bytes, spread: int = 0) -> tuple[int, ...]:
    """Return where an answer may be cut: before, within and after each packet but the last, and `spread` evenly."""
    ends = [0]
    while ends[-1] < len(payload):
        size = int(payload[ends[-1] : ends[-1] + 4], 16)
        ends.append(ends[-1] + max(size, 4))
    middles = [(begin + end) // 2 for begin, end in pairwise(ends)]
    evenly = [len(payload) * number // spread for number in range(spread)]
    return tuple(sorted({*ends[:-1], *middles, *evenly}))
