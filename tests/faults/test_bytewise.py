"""Answers are cut where it is said that they are."""

import pytest

from tests.faults.bytewise import cut, positions, told
from watcher.demo.server import Reply

PACKETS = b"0008abcd0006ab0000"


def said(fault):
    """Return what a fault makes of an answer of three packets."""
    return b"".join(fault.instead(Reply(kind="ls-refs", code=200, headers={"A": "b"}, payload=PACKETS)))


def test_every_packet_is_cut():
    """Before it and within it; all of them together are no cut."""
    assert (0, 4, 8, 11, 14, 16) == positions(PACKETS)


def test_a_long_answer_is_cut_evenly_too():
    """At so many places."""
    assert {0, 6, 12} <= set(positions(PACKETS, 3))


@pytest.mark.parametrize(("is_honest", "length"), [(True, 8), (False, 18)])
def test_a_cut_answer_tells_its_length_or_the_right_one(is_honest, length):
    """The rest is as it was; after the last place comes the first."""
    right = b"HTTP/1.1 200 OK\r\nA: b\r\nContent-Length: %d\r\n\r\n0008abcd" % length
    assert right == said(cut(2, is_honest=is_honest)) == said(cut(8, is_honest=is_honest))


def test_two_lengths_are_two_headers():
    """Made from the right one."""
    twice = told(lambda length: f"Content-Length: {length}\nContent-Length: {length - 1}")
    assert b"Content-Length: 18\r\nContent-Length: 17\r\n\r\n0008" in said(twice)
