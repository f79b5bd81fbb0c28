"""Make a new input of known ones: flip, cut, repeat, splice, and put in words that the parser knows."""

from collections.abc import Sequence
from random import Random

LONGEST = 4096
"""Bytes of an input; what breaks a parser is short once it is understood."""
_ODD = (0, 0x0A, 0x20, 0x22, 0x27, 0x5C, 0x7B, 0x7D, 0x5B, 0x5D, 0x7F, 0x80, 0xC3, 0xFF)
_MOST = 4


def mutated(random: Random, data: bytes, others: Sequence[bytes], words: Sequence[bytes]) -> bytes:
    """Return an input a few steps away from another one."""
    for _ in range(random.randint(1, _MOST)):
        step = random.choice((_flipped, _cut, _repeated, _spliced, _inserted, _inserted, _nested))
        data = step(random, data, others, words)
    return data[:LONGEST]


def _span(random: Random, data: bytes, most: int = 64) -> tuple[int, int]:
    start = random.randint(0, len(data))
    return start, min(len(data), start + random.randint(0, most))


def _flipped(random: Random, data: bytes, _: object, __: object) -> bytes:
    if not data:
        return data
    at = random.randrange(len(data))
    byte = data[at] ^ 1 << random.randrange(8) if random.random() < 0.5 else random.choice(_ODD)
    return data[:at] + bytes([byte]) + data[at + 1 :]


def _cut(random: Random, data: bytes, _: object, __: object) -> bytes:
    start, end = _span(random, data)
    return data[:start] + data[end:] if random.random() < 0.9 else data[:start]


def _repeated(random: Random, data: bytes, _: object, __: object) -> bytes:
    start, end = _span(random, data)
    return data[:end] + data[start:end] * random.choice((1, 1, 2, 30)) + data[end:]


def _spliced(random: Random, data: bytes, others: Sequence[bytes], _: object) -> bytes:
    other = random.choice(others)
    (start, end), (first, last) = _span(random, data), _span(random, other, 400)
    return data[:start] + other[first:last] + data[end:]


def _inserted(random: Random, data: bytes, _: object, words: Sequence[bytes]) -> bytes:
    start, end = _span(random, data, 16)
    return data[:start] + random.choice(words) + data[end if random.random() < 0.5 else start :]


def _nested(random: Random, data: bytes, _: object, words: Sequence[bytes]) -> bytes:
    """Put a word in many times over: what opens once may be meant to close."""
    if random.random() < 0.8:
        return _inserted(random, data, _, words)
    at = random.randint(0, len(data))
    return data[:at] + random.choice(words)[:8] * random.choice((3, 40, 500)) + data[at:]
