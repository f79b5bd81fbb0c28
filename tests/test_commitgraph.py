"""A commit-graph file that is cut, altered or lies is refused, or answers; it never brings anything down."""

import hashlib
from functools import cache

import pytest

from tests.test_graph import imported
from watcher.commitgraph import CommitGraphError, Mapped, layer
from watcher.graph import Graph
from watcher.upstream.git import Git

SHAPE = [[], [0], [1], [1], [1], [2, 3], [5, 4, 2, 3], [6], [], [7, 8], [9, 4, 3], [10]]
HASHES = {"sha1": hashlib.sha1, "sha256": hashlib.sha256}


@cache
def files(folder, hashes="sha1", layers=1):
    """Return the history of the shape, and git's files of it."""
    history = imported(SHAPE, folder / f"{hashes}-{layers}.git", hashes)
    for at in range(layers):
        asked = "".join(f"{commit}\n" for commit in history.oids[: (at + 1) * len(SHAPE) // layers])
        Git(directory=history.git.directory).run(
            "commit-graph", "write", "--stdin-commits", "--split=no-merge", "--no-progress", stdin=asked.encode()
        )
    chain = history.git.directory / "objects" / "info" / "commit-graphs" / "commit-graph-chain"
    names = chain.read_text().split()
    return history, [chain.with_name(f"graph-{name}.graph").read_bytes() for name in names]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return one place for the files of all tests."""
    return tmp_path_factory.mktemp("graphs")


def read(contents, tips) -> Graph:
    return Graph(Mapped([layer(memoryview(content)) for content in contents], tips))


def altered(content: bytes, at: int, bits: int) -> bytes:
    return content[:at] + bytes([content[at] ^ bits]) + content[at + 1 :]


def signed(content: bytes, hashes="sha1") -> bytes:
    """Return a file's content with the checksum that fits it."""
    digest = HASHES[hashes]
    size = digest().digest_size
    return content[:-size] + digest(content[:-size]).digest()


@pytest.mark.parametrize("hashes", HASHES)
def test_a_whole_file_is_read(folder, hashes):
    """The peer of all that follows: unaltered, it answers."""
    history, (content,) = files(folder, hashes)
    graph = read([content], history.oids)
    assert history.parents == {commit: graph.parents(commit) for commit in graph}
    assert content == signed(content, hashes)


def test_a_file_that_is_cut_is_refused(folder):
    """Wherever it ends."""
    _, (content,) = files(folder)
    for end in range(len(content)):
        with pytest.raises(CommitGraphError):
            layer(memoryview(content[:end]))


@pytest.mark.parametrize("bits", [0x01, 0x80, 0xFF])
def test_a_file_with_an_altered_byte_is_refused(folder, bits):
    """Its checksum tells."""
    _, (content,) = files(folder)
    for at in range(len(content)):
        with pytest.raises(CommitGraphError):
            layer(memoryview(altered(content, at, bits)))


@pytest.mark.parametrize("bits", [0x01, 0x02, 0x10, 0x80, 0xFF])
@pytest.mark.parametrize("layers", [1, 3])
def test_a_file_that_lies_brings_nothing_down(folder, bits, layers):
    """With a checksum that fits, it is refused, or what it says makes sense: each walk ends."""
    history, contents = files(folder, layers=layers)
    *below, content = contents
    refused = 0
    for at in range(len(content) - 20):
        try:
            graph = read([*below, signed(altered(content, at, bits))], history.oids)
        except CommitGraphError:
            refused += 1
            continue
        for commit in history.oids:
            above = graph.parents(commit)
            assert 1 + max((graph.generations[parent] for parent in above), default=0) == graph.generations[commit]
            assert len(graph.ancestors(commit)) >= graph.generations[commit]
    assert refused > len(content) // 4


def test_layers_must_fit(folder):
    """A layer without those below it, or above others, says nothing."""
    history, contents = files(folder, layers=3)
    assert len(history.oids) == len(read(contents, history.oids))
    for wrong in ([], contents[1:], contents[::-1], [contents[0], contents[2]], [contents[0], contents[0]]):
        with pytest.raises(CommitGraphError):
            read(wrong, ())
    _, others = files(folder, "sha256")
    with pytest.raises(CommitGraphError):
        read([*contents, *others], ())


def test_a_tip_that_nothing_knows(folder):
    """Held is what the tips reach: one that is nowhere is an error, not a history without it."""
    history, contents = files(folder)
    assert {history.oids[0]} == set(read(contents, history.oids[:1]))
    with pytest.raises(CommitGraphError):
        read(contents, ["f" * 40])
