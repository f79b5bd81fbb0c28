"""Lines are followed in memory to where git's own blame follows them, without a program or a fetch for each file."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.upstream.test_mirror import FILES, PICTURE, TEXT, edits, mirrored, served, with_few_examples
from watcher import lineage as module
from watcher.graph import Graph
from watcher.lineage import lineage
from watcher.model import LineRange
from watcher.upstream import porcelain


def texts(mirror, commit, path):
    """Return number → text of a file's lines."""
    blob = mirror.files(commit)[path]
    return dict(enumerate(mirror.read([blob])[blob].decode().removesuffix("\n").split("\n"), 1))


def followed(mirror, tip, path, bound):
    """Return where the lines of a file came from."""
    found = lineage(mirror, Graph(mirror.parents()), [tip], [path], bound, dates={})
    return found.blame(tip, path, texts(mirror, tip, path))


@pytest.mark.parametrize(
    ("bound", "expected"),
    [
        ("A", [("one", "B", "old.c", False), ("TWO", "E", "new.c", False), ("FIVE", "X", "new.c", False)]),
        ("B", [("one", "B", "old.c", True), ("TWO", "E", "new.c", False), ("FIVE", "X", "new.c", False)]),
        ("C", [("one", "C", "old.c", True), ("TWO", "E", "new.c", False), ("FIVE", "X", "new.c", False)]),
        ("M", [("one", "M", "new.c", True), ("TWO", "E", "new.c", False), ("FIVE", "M", "new.c", True)]),
        ("E", [("one", "E", "new.c", True), ("TWO", "E", "new.c", True), ("FIVE", "E", "new.c", True)]),
    ],
)
def test_lines_are_followed_through_renames_and_merges(upstream, tmp_path, bound, expected):
    """To the commit that wrote them, under the name that the file had then, or to the bound."""
    oids = upstream.draw(PICTURE, files=FILES)
    by_oid = {oid: name for name, oid in oids.items()}
    found = followed(mirrored(upstream, tmp_path), oids["E"], "new.c", oids[bound])
    told = [(line.text, by_oid[line.origin], line.origin_path, line.is_boundary) for line in found]
    assert expected == [told[0], told[1], told[4]]


def test_one_fetch_brings_the_contents_of_all_files(upstream, server, tmp_path):
    """Beside one that finds out what a new file was renamed from; then nothing more is asked of the server."""
    oids = upstream.draw(PICTURE, files=FILES)
    mirror = mirrored(upstream, tmp_path)
    mirror.bring_trees(oids.values())
    graph = Graph(mirror.parents())
    server.requests.clear()
    found = lineage(mirror, graph, [oids["E"]], ["new.c", "Y"], oids["B"], dates={oids["E"]: 7}, beside=["D"])
    assert 2 == server.count()["fetch"]
    server.requests.clear()
    [line] = found.blame(oids["E"], "new.c", {2: "TWO"})
    assert (7, 2, "TWO") == (line.origin_date, line.origin_line, line.text)
    assert oids["Y"] == found.blame(oids["E"], "Y", {1: "Y"})[0].origin
    assert {1: "D"} == texts(mirror, oids["D"], "D")
    assert not server.requests


def test_a_step_is_what_a_commit_made_of_a_file(upstream, tmp_path):
    """Over its first parent, under the former name; nothing for what is older, and nothing for what it left alone."""
    files = {**FILES, "X": {"old.c": None, "new.c": TEXT.replace("five", "FIVE")}}
    oids = upstream.draw(PICTURE, files=files)
    mirror = mirrored(upstream, tmp_path)
    found = lineage(mirror, Graph(mirror.parents()), [oids["E"]], ["new.c"], oids["B"], dates={})
    parent, [diff] = found.step(oids["X"], "new.c")
    assert (oids["C"], "old.c", "new.c") == (parent, diff.old_path, diff.path)
    assert [(("five",), ("FIVE",))] == [(hunk.old, hunk.new) for hunk in diff.hunks]
    assert (oids["D"], ()) == found.step(oids["M"], "Y")
    assert (None, ()) == found.step(oids["A"], "old.c")


def test_too_much_is_left_to_git(upstream, tmp_path, monkeypatch):
    """Where more contents would be brought than fit, nobody brings them."""
    oids = upstream.draw(PICTURE, files=FILES)
    mirror = mirrored(upstream, tmp_path)
    monkeypatch.setattr(module, "_MOST_VERSIONS", 1)
    assert lineage(mirror, Graph(mirror.parents()), [oids["E"]], ["new.c"], oids["A"], dates={}) is None


@pytest.mark.parametrize("object_format", ["sha1", "sha256"])
def test_odd_files_are_followed(upstream, tmp_path, object_format):
    """Odd names, carriage returns, form feeds, no line feed at the end, lines like headers, white space, modes."""
    path = ':(top)"q\t*ü'
    old = "x\x0cy\r\n--- a\n@@ -1 +1 @@\ndiff --git a b\nz"
    files = {
        "A": {path: old},
        "B": {path: old.replace("--- a", "  --- a  ")},
        "C": {path: f"new\n{old}"},
        "D": {path: f"new\n{old}\n"},
    }
    oids = upstream.draw("A---B---C---D (main)", files=files, object_format=object_format)
    mirror = mirrored(upstream, tmp_path)
    found = followed(mirror, oids["D"], path, oids["A"])
    assert ["C", "A", "A", "A", "A", "A"] == [{oid: name for name, oid in oids.items()}[it.origin] for it in found]
    told = mirror.blame(oids["D"], path, [LineRange(first=1, last=6)], bound=oids["A"])
    assert [(it.origin, it.origin_line, it.is_boundary) for it in told] == [
        (it.origin, it.origin_line, it.is_boundary) for it in found
    ]


@with_few_examples
@given(commits=edits(), data=st.data())
def test_the_answer_is_gits_own(server, tmp_path_factory, commits, data):
    """On random histories with merges and renames, for every file and any bound."""
    mirror, whole, oids, files = served(commits, server, tmp_path_factory)
    held = mirror.parents()
    graph, tip = Graph(held), oids[-1]
    bound = data.draw(st.sampled_from([oid for oid in oids[:-1] if oid in held] or [None]))
    if bound is None:
        return
    found = lineage(mirror, graph, [tip], files, bound, dates={})
    for path in files:
        told = porcelain.blamed(whole.run("blame", "-w", "--line-porcelain", f"{bound}..{tip}", "--", path))
        mine = found.blame(tip, path, texts(mirror, tip, path))
        assert [_without_date(line) for line in told] == [_without_date(line) for line in mine]


def _without_date(line):
    return line.line, line.text, line.origin, line.origin_path, line.origin_line, line.is_boundary
