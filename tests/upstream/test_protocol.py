"""Replies are read strictly, and no bytes do more harm than one error."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from watcher.upstream import protocol
from watcher.upstream.protocol import Malformed, Mark, Seen, packet, packets

A, B, C = "a" * 40, "b" * 40, "c" * 40
SERVICE = packet("# service=git-upload-pack") + b"0000"


def lines(*words):
    return b"".join(map(packet, words)) + b"0000"


def read(*words):
    return protocol.read_ls_refs(lines(*words), Seen(refs={}))


def test_packets_are_split():
    """Data, and the three marks."""
    assert [b"x\n", Mark.FLUSH, b"", Mark.DELIMITER, Mark.RESPONSE_END] == list(packets(b"0006x\n0000000400010002"))


@pytest.mark.parametrize("body", [b"0", b"zzzz", b"0003", b"0005", b"ffffx", b"00 5x", b"+005x", b"<html>"])
def test_cut_and_impossible_packets_are_malformed(body):
    """Short, no number, too short, too long."""
    with pytest.raises(Malformed):
        list(packets(body))


def test_an_error_packet_is_the_servers_word():
    """It is told apart from nonsense, without control characters."""
    with pytest.raises(Malformed, match=r"access denied\\x1b") as caught:
        list(packets(packet("ERR access denied\x1b")))
    assert caught.value.is_told


def test_refs_of_version_2():
    """Branches, annotated tags with what they name, HEAD's branch."""
    seen = read(f"{A} HEAD symref-target:refs/heads/main", f"{A} refs/heads/main", f"{B} refs/tags/v1 peeled:{C}")
    assert "refs/heads/main" == seen.head
    assert (B, C, C) == (
        seen.refs["refs/tags/v1"].oid,
        seen.refs["refs/tags/v1"].peeled,
        seen.refs["refs/tags/v1"].commit,
    )
    assert seen.refs["refs/heads/main"].peeled is None


def test_an_empty_list_is_an_empty_repository():
    """With or without an unborn HEAD."""
    assert {} == protocol.read_ls_refs(b"0000", Seen(refs={})).refs
    assert {} == read("unborn HEAD symref-target:refs/heads/main").refs


@pytest.mark.parametrize(
    "words",
    [
        ("xyz refs/heads/main",),
        (f"{A[:39]} refs/heads/main",),
        (f"{A.upper()} refs/heads/main",),
        (f"{'a' * 64} refs/heads/main",),
        (f"{A} refs/heads/../../x",),
        (f"{A} refs/heads/x\x1b[2J",),
        (f"{A} refs/heads/x.lock",),
        (f"{A} main",),
        (A,),
        (f"{A} refs/heads/main", f"{B} refs/heads/main"),
        (f"{A} refs/tags/v1 peeled:x",),
    ],
)
def test_impossible_refs_are_malformed(words):
    """No oid, a wrong length, a name that git forbids, one listed twice."""
    with pytest.raises(Malformed):
        read(*words)


def test_a_list_without_its_end_is_cut():
    """Even where it breaks off between two packets."""
    with pytest.raises(Malformed, match="cut"):
        protocol.read_ls_refs(packet(f"{A} refs/heads/main"), Seen(refs={}))
    with pytest.raises(Malformed, match="cut"):
        protocol.read_old(SERVICE)
    with pytest.raises(Malformed, match="cut"):
        protocol.read_old(SERVICE + packet(f"{A} refs/heads/main\0"))


def test_every_cut_is_noticed():
    """Wherever a reply breaks off, it is no list of refs."""
    new = lines(f"{A} HEAD symref-target:refs/heads/main", f"{A} refs/heads/main", f"{B} refs/tags/v1 peeled:{C}")
    old = SERVICE + lines(f"{A} HEAD\0symref=HEAD:refs/heads/main", f"{A} refs/heads/main")
    for length in range(len(new)):
        with pytest.raises(Malformed):
            protocol.read_ls_refs(new[:length], Seen(refs={}))
    for length in range(len(old)):
        with pytest.raises(Malformed):
            protocol.read_old(old[:length])


@pytest.mark.parametrize(
    ("words", "usable"),
    [
        ("filter", False),
        ("filter allow-tip-sha1-in-want", False),
        ("filter allow-reachable-sha1-in-want", True),
        ("filter allow-any-sha1-in-want", True),
        ("allow-any-sha1-in-want", False),
    ],
)
def test_filters_of_version_0(words, usable):
    """A filter is of use only where what it left out can be asked for by id later."""
    assert usable == protocol.read_old(SERVICE + lines(f"{A} refs/heads/main\0{words}")).filters


def test_refs_of_version_0():
    """Capabilities stand on the first line, peeled tags on lines of their own."""
    seen = protocol.read_old(
        SERVICE
        + lines(
            f"{A} HEAD\0multi_ack symref=HEAD:refs/heads/main filter object-format=sha1",
            f"{A} refs/heads/main",
            f"{B} refs/tags/v1",
            f"{C} refs/tags/v1^{{}}",
            f"shallow {C}",
        )
    )
    assert ("refs/heads/main", "sha1") == (seen.head, seen.object_format)
    assert C == seen.refs["refs/tags/v1"].peeled
    assert ["refs/heads/main", "refs/tags/v1"] == list(seen.refs)


def test_empty_repositories_of_version_0_and_1():
    """New servers tell their capabilities, old ones nothing at all."""
    assert {} == protocol.read_old(SERVICE + b"0000").refs
    assert {} == protocol.read_old(SERVICE + lines("0" * 40 + " capabilities^{}\0agent=x")).refs
    assert [] == list(protocol.read_old(SERVICE + lines("version 1", "0" * 40 + " capabilities^{}\0")).refs)


def test_capabilities_of_version_2():
    """With or without the service line; filter and object format are found."""
    told = lines("version 2", "agent=x", "ls-refs=unborn", "fetch=shallow filter", "object-format=sha256")
    for body in (told, SERVICE + told):
        server = protocol.capabilities(body)
        assert (True, "sha256") == (server.filters, server.object_format)
    assert not protocol.capabilities(lines("version 2", "ls-refs", "fetch=shallow")).filters
    assert protocol.capabilities(SERVICE + lines(f"{A} refs/heads/main\0x")) is None


def test_a_prefix_is_a_prefix():
    """A server answers `refs/heads/main` with main2 as well: only the one that was asked for counts."""
    seen = read(f"{A} refs/heads/main", f"{B} refs/heads/main2", f"{B} refs/tags/main")
    assert ["refs/heads/main"] == [r.name for r in protocol.advertisement(seen, ["refs/heads/main"], None).refs]
    assert ["refs/heads/main", "refs/heads/main2"] == [
        r.name for r in protocol.advertisement(seen, ["refs/heads/"], None).refs
    ]


def test_the_digest_tells_advertisements_apart():
    """A moved tip, a moved HEAD, another name and another peeled object change it; the order does not."""

    def digest(*words):
        return protocol.advertisement(read(*words), ["refs/"], None).digest

    first = digest(f"{A} HEAD symref-target:refs/heads/x", f"{A} refs/heads/x", f"{B} refs/heads/y")
    assert first == digest(f"{B} refs/heads/y", f"{A} HEAD symref-target:refs/heads/x", f"{A} refs/heads/x")
    others = [
        digest(f"{A} HEAD symref-target:refs/heads/y", f"{A} refs/heads/x", f"{B} refs/heads/y"),
        digest(f"{A} HEAD symref-target:refs/heads/x", f"{A} refs/heads/x", f"{A} refs/heads/y"),
        digest(f"{A} HEAD symref-target:refs/heads/x", f"{A} refs/heads/x", f"{B} refs/heads/z"),
        digest(f"{A} HEAD symref-target:refs/heads/x", f"{A} refs/heads/x", f"{B} refs/heads/y peeled:{C}"),
    ]
    assert 5 == len({first, *others})


def test_names_that_are_not_utf8_become_printable():
    """Two of them stay two."""
    seen = protocol.read_ls_refs(
        b"".join(
            b"%04x%b" % (len(x) + 4, x) for x in (A.encode() + b" refs/heads/\xe9", A.encode() + b" refs/heads/\xe8")
        )
        + b"0000",
        Seen(refs={}),
    )
    assert [r"refs/heads/\xe9", r"refs/heads/\xe8"] == list(seen.refs)


def test_the_output_of_ls_remote():
    """Peeled tags, HEAD's branch, pull refs left to the caller's prefixes."""
    refs = f"{A}\tHEAD\n{A}\trefs/heads/main\n{B}\trefs/tags/v\n{C}\trefs/tags/v^{{}}\n"
    seen = protocol.read_ls_remote(f"ref: refs/heads/main\tHEAD\n{refs}".encode())
    assert ("refs/heads/main", C) == (seen.head, seen.refs["refs/tags/v"].peeled)


pieces = st.lists(
    st.one_of(
        st.binary(max_size=20),
        st.sampled_from([b"0000", b"0001", b"0002", b"0003", SERVICE, packet("version 2"), packet("ls-refs")]),
        st.text(max_size=30).map(packet),
        st.tuples(
            st.sampled_from([A, "0" * 40, "unborn", "shallow"]), st.text("refs/headstg^{}\0v1 :", max_size=20)
        ).map(lambda words: packet(" ".join(words))),
    ),
    max_size=8,
).map(b"".join)


@given(pieces)
def test_no_bytes_raise_anything_but_malformed(body):
    """Whatever a server sends."""
    for reader in (
        lambda: list(packets(body)),
        lambda: protocol.capabilities(body),
        lambda: protocol.read_old(body),
        lambda: protocol.read_ls_refs(body, Seen(refs={})),
        lambda: protocol.read_ls_remote(body),
    ):
        with suppress(Malformed):
            reader()


@given(st.lists(st.binary(max_size=200).filter(lambda data: not data.startswith(b"ERR "))))
def test_packets_come_back(data):
    """What was packed is read."""
    assert data == list(packets(b"".join(b"%04x%b" % (len(d) + 4, d) for d in data)))
