"""Drawn histories become real ones."""

from datetime import UTC, datetime

import pytest

from watcher.demo.drawing import Gitlink, draw, read
from watcher.errors import UsageError
from watcher.model import Oid
from watcher.upstream.git import Git

PICTURE = r"""
          X---Y            (topic)
         /     \
A---B---C---D---M---E      (main, tag: v1.0, tag: v2.0*)
"""


def told(path, *args):
    return Git(directory=path).run(*args).decode()


def test_lines_join_a_commit_to_its_parents():
    """The first parent stands on the commit's own row, parents come before children."""
    drawing = read(PICTURE)
    assert drawing.parents["M"] == ("D", "Y")
    assert drawing.parents["X"] == ("C",)
    assert () == drawing.parents["A"]
    assert list(drawing.parents).index("Y") < list(drawing.parents).index("M")


def test_a_side_may_be_drawn_below():
    """Lines slope both ways, over several rows, and names may have several letters."""
    drawing = read(r"""
base---two---merge---last   (master)
    \       /
     fix.1--
""")
    assert ("two", "fix.1") == drawing.parents["merge"]
    assert ("base",) == drawing.parents["fix.1"]
    drawing = read(r"""
A---B-------M      (main)
     \     /
      X---Y
       \
        Z          (other)
""")
    assert ("B", "Y") == drawing.parents["M"]
    assert ("X",) == drawing.parents["Z"]


@pytest.mark.parametrize(
    ("picture", "complaint"),
    [
        ("A---B---A (main)", "row 1: A is drawn twice"),
        ("A---   (main)", "leads to no commit"),
        ("A-?-B (main)", "neither a name nor a line"),
        ("   (main)", "labels without a commit"),
        ("A\n \\\n  M\n /\nB", "needs its first parent on its own row"),
    ],
)
def test_an_unreadable_drawing_says_where(picture, complaint):
    """Each mistake names its row."""
    with pytest.raises(UsageError, match=complaint.replace("?", r"\?")):
        read(picture)


def test_refs_are_exactly_what_is_drawn(tmp_path):
    """Branches, light tags and annotated tags; HEAD is main."""
    oids = draw(tmp_path / "r", PICTURE)
    refs = dict(
        reversed(line.split(" "))
        for line in told(tmp_path / "r", "for-each-ref", "--format=%(objecttype) %(refname)").splitlines()
    )
    assert {
        "refs/heads/main": "commit",
        "refs/heads/topic": "commit",
        "refs/tags/v1.0": "commit",
        "refs/tags/v2.0": "tag",
    } == refs
    assert oids["E"] == told(tmp_path / "r", "rev-parse", "v2.0^{commit}").strip()
    assert "refs/heads/main" == told(tmp_path / "r", "symbolic-ref", "HEAD").strip()


def test_git_sees_the_drawn_graph(tmp_path):
    """`git log` tells the same parents."""
    oids = draw(tmp_path / "r", PICTURE)
    assert f"{oids['D']} {oids['Y']}" == told(tmp_path / "r", "log", "-1", "--format=%P", oids["M"]).strip()


def test_drawing_again_is_the_forced_update(tmp_path):
    """Refs that are not drawn any more are gone, even where a new name takes the place of a folder."""
    before = draw(tmp_path / "r", PICTURE)
    after = draw(tmp_path / "r", "A---B---Z (main, topic/one)")
    assert before["B"] == after["B"]
    assert ["refs/heads/main", "refs/heads/topic/one"] == told(
        tmp_path / "r", "for-each-ref", "--format=%(refname)"
    ).split()
    assert "commit" == told(tmp_path / "r", "cat-file", "-t", before["Y"]).strip()


def test_an_oid_depends_on_ancestors_alone(tmp_path):
    """The same history drawn elsewhere, among other commits, has the same ids."""
    one = draw(tmp_path / "one", "A---B (main)")
    two = draw(tmp_path / "two", "A---B---C (main)\n     \\\n      D (x)")
    assert one["B"] == two["B"]


def test_stars_wrap_a_tag_in_tags(tmp_path):
    """`v1**` is a tag of a tag of the commit."""
    oids = draw(tmp_path / "r", "A---B (main)", refs={"refs/tags/v1**": "A"})
    outer = told(tmp_path / "r", "cat-file", "-p", "refs/tags/v1")
    assert "type tag" in outer
    assert oids["A"] == told(tmp_path / "r", "rev-parse", "refs/tags/v1^{commit}").strip()


def test_a_merge_holds_what_both_sides_changed(tmp_path):
    """The second side's changes since the merge base lie over the first parent's tree."""
    draw(
        tmp_path / "r",
        PICTURE,
        files={"B": {"lib.c": "one\n", "gone.c": "x\n"}, "X": {"lib.c": "two\n", "gone.c": None}},
    )
    assert "two\n" == told(tmp_path / "r", "cat-file", "-p", "main:lib.c")
    assert {"A", "C", "D", "E", "Y", "lib.c"} == set(
        told(tmp_path / "r", "ls-tree", "-r", "--name-only", "main").split()
    )


def test_words_and_contents_can_be_given(tmp_path):
    """Message, author, date, odd paths, bytes and submodules."""
    draw(
        tmp_path / "r",
        "A---B (main)",
        messages={"B": "Merge pull request #95 from x/y\n\nTitle"},
        authors={"B": "Ada <ada@example.org>"},
        dates={"B": datetime(2026, 8, 7, 12, tzinfo=UTC)},
        files={"B": {'we "ird/ü': b"\xff\0", "sub": Gitlink(Oid("1" * 40))}},
    )
    assert "Ada 2026-08-07T12:00:00+00:00 Merge pull request #95 from x/y" == told(
        tmp_path / "r", "log", "-1", "--date=iso-strict", "--format=%an %cI %s"
    ).strip().replace("Z", "+00:00")
    assert b"\xff\0" == Git(directory=tmp_path / "r").run("cat-file", "-p", 'main:we "ird/ü')
    assert f"160000 commit {'1' * 40}\tsub\n" in told(tmp_path / "r", "ls-tree", "main")


def test_head_can_be_chosen(tmp_path):
    """By the drawing, by argument, else main, master or the first branch."""
    draw(tmp_path / "r", "A---B (dev)\n\nC (HEAD -> stable)")
    assert "refs/heads/stable" == told(tmp_path / "r", "symbolic-ref", "HEAD").strip()
    draw(tmp_path / "r", "A---B (dev)", head="gone")
    assert "refs/heads/gone" == told(tmp_path / "r", "symbolic-ref", "HEAD").strip()
    draw(tmp_path / "r", "A---B (dev)")
    assert "refs/heads/dev" == told(tmp_path / "r", "symbolic-ref", "HEAD").strip()


def test_other_object_formats_are_drawn(tmp_path):
    """SHA-256 repositories have ids of 64 digits."""
    oids = draw(tmp_path / "r", PICTURE, object_format="sha256")
    assert 64 == len(oids["E"])


def test_a_label_for_an_unknown_commit_is_refused(tmp_path):
    """A ref must stand on a drawn commit."""
    with pytest.raises(UsageError, match="no commit of that name is drawn: Q"):
        draw(tmp_path / "r", "A (main)", refs={"refs/heads/q": "Q"})
