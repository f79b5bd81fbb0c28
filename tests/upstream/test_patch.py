"""Patches are read by their line counts; odd content is content."""

from hypothesis import given
from hypothesis import strategies as st

from tests.upstream.test_mirror import mirrored
from watcher.model import FileDiff, Hunk
from watcher.upstream.git import Git
from watcher.upstream.patch import file_diffs


def changed(upstream, tmp_path, before, after):
    """Return how the files of two commits differ, by path."""
    oids = upstream.draw("A---B (main)", files={"A": before, "B": after})
    found = mirrored(upstream, tmp_path).diff(oids["A"], oids["B"], ignore_space=False)
    return {diff.path: diff for diff in found}


def test_content_that_looks_like_a_header_is_content(upstream, tmp_path):
    """Removed and added lines that read like another file's header."""
    old = "-- a/x\n@ -1 +1 @@\n\\ No newline\ndiff --git a b\n"
    new = "++ b/x\n@@ -1 +1 @@\n\\ No newline at all\ndiff --git c d\n"
    [diff] = changed(upstream, tmp_path, {"f": old}, {"f": new}).values()
    assert tuple(old.splitlines()) == diff.hunks[0].old
    assert tuple(new.splitlines()) == diff.hunks[0].new


def test_missing_line_feeds_are_no_lines(upstream, tmp_path):
    """On either side, on both, and where only they differ."""
    found = changed(upstream, tmp_path, {"f": "a\nb", "g": "a\n", "h": "a"}, {"f": "a\nc", "g": "a", "h": "a\nb\n"})
    assert (Hunk(old_start=2, old=("b",), new_start=2, new=("c",)),) == found["f"].hunks
    assert (Hunk(old_start=1, old=("a",), new_start=1, new=("a",)),) == found["g"].hunks
    assert ("a", "b") == found["h"].hunks[0].new


def test_binary_and_empty_files_have_no_lines(upstream, tmp_path):
    """They are named all the same, under names with spaces and ` b/` too."""
    before = {"x b/x": b"\0\1", "empty file": "", "gone": ""}
    found = changed(upstream, tmp_path, before, {"x b/x": b"\0\2", "gone": None, "new": ""})
    assert FileDiff(path="x b/x", old_path="x b/x", hunks=(), binary=True) == found["x b/x"]
    assert FileDiff(path="new", old_path="gone", hunks=()) == found["new"]
    assert "empty file" not in found


def test_a_mode_alone_has_no_lines(upstream, tmp_path):
    """Nor has a rename without a change."""
    oids = upstream.draw("A (main)", files={"A": {"run.sh": "x\n" * 5}})
    git = Git(directory=upstream.path)
    blob = git.run("rev-parse", "main:run.sh").decode().strip()
    tree = git.run("mktree", stdin=f"100755 blob {blob}\tmoved.sh\n".encode()).decode().strip()
    raw = f"tree {tree}\nparent {oids['A']}\nauthor A <a@b> 1 +0000\ncommitter A <a@b> 1 +0000\n\nx\n".encode()
    tip = git.run("hash-object", "-w", "-t", "commit", "--stdin", stdin=raw).decode().strip()
    git.run("update-ref", "refs/heads/main", tip)
    mirror = mirrored(upstream, tmp_path)
    assert (FileDiff(path="moved.sh", old_path="run.sh", hunks=()),) == mirror.diff(oids["A"], tip, ignore_space=False)


def test_deleted_and_new_files(upstream, tmp_path):
    """A deleted file has the path it had, a new one no old path."""
    found = changed(upstream, tmp_path, {"old": "a\nb\n"}, {"old": None, "new": "x\ny\nz\n"})
    assert (("a", "b"), ()) == (found["old"].hunks[0].old, found["old"].hunks[0].new)
    assert (None, 0, ("x", "y", "z")) == (
        found["new"].old_path,
        found["new"].hunks[0].old_start,
        found["new"].hunks[0].new,
    )


parts = st.sampled_from(
    [
        b"diff --git a b\n",
        b'diff --git "\\',
        b"--- ",
        b"+++ ",
        b'"\\777"\n',
        b"@@ -1,9 +0,0 @@\n",
        b"-x\n",
        b"\\ No\n",
        b"+",
    ]
)


@given(st.lists(st.one_of(parts, st.binary(max_size=30))).map(b"".join))
def test_nothing_crashes_the_reader(patch):
    """Whatever stands in a patch."""
    assert all(isinstance(diff, FileDiff) for diff in file_diffs(patch))
