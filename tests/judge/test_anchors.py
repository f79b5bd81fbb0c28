"""Which lines does a fix repair?"""

import pytest

from watcher.judge.anchors import guarded_lines, is_significant, removed_lines, surroundings, weight
from watcher.model import FileDiff, Hunk


def diff(*hunks, path="src/pool.py", old_path="src/pool.py"):
    """Return a file's diff of hunks (old start, old lines, new start, new lines)."""
    made = (Hunk(old_start=at, old=tuple(old), new_start=to, new=tuple(new)) for at, old, to, new in hunks)
    return FileDiff(path=path, old_path=old_path, hunks=tuple(made))


@pytest.mark.parametrize(
    "text",
    [
        "x = 1",
        "    return pool",
        "*pool = NULL;",
        "  *count += 1;",
        "--count;",
        "#ifdef CUDA",
        "#  define SIZE 4",
        "#else",
        '#[cfg(feature = "cuda")]',
        "#![no_std]",
        "} else if (x) {",
        "using_pool = True",
        "use_pool = True",
        "use = 1",
        "package = find()",
        "important = 1",
        "import_pool()",
        "done_with(pool)",
        "else_branch()",
        "try_again()",
        "pool.end()",
        "free(pool); // once",
        "print('# no comment')",
        "break",
        "%",
    ],
)
def test_significant(text):
    """Code is significant, also where it looks a little like a comment or an import."""
    assert is_significant(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   \t",
        "}",
        "  });",
        "  { }, [",
        "// free it",
        "# free it",
        "#!/bin/sh",
        " /* free it */",
        " * free it",
        " */",
        "-- free it",
        '"""Free it."""',
        "import pool",
        "from pool import free",
        "#include <pool.h>",
        "  #  include <pool.h>",
        "using namespace pool;",
        "use pool::free;",
        "package pool",
        "else:",
        "  else {",
        "try:",
        "end",
        "fi",
        "pass",
        " " * 100_000,
    ],
)
def test_insignificant(text):
    """Blank lines, braces, comments, imports and bare block words say nothing of their own."""
    assert not is_significant(text)


def test_long_lines_are_read_in_linear_time():
    """White space in a crowd before a word keeps no expression busy (the timeout would tell)."""
    for text in (" ", "{", "/", "*", "else ", "from ", "#"):
        is_significant(f"{text * 200_000}x")


def test_removed():
    """Removed and altered lines are told by their numbers before, the significant ones."""
    found = removed_lines([diff((3, ["a = 1", "# b", "", "c = 3"], 3, ["a = 2"]), (9, ["z = 1"], 7, []))])
    assert {"src/pool.py": (3, 6, 9)} == found


@pytest.mark.parametrize("path", ["tests/test_pool.py", "docs/pool.py", ".github/pool.py", "third_party/a/pool.c"])
def test_only_what_is_shipped(path):
    """Lines of tests, docs, tooling and vendored code anchor nothing."""
    made = [diff((3, ["a = 1"], 3, ["a = 2", "b = 1"]), path=path, old_path=path)]
    assert {} == removed_lines(made)
    assert {} == guarded_lines(made, made, {path: 9})
    assert (0, 0) == weight(made)


def test_comments_only():
    """A change of comments alone removes nothing and guards nothing."""
    made = [diff((3, ["# a"], 3, ["# b", "# c"]))]
    assert {} == removed_lines(made)
    assert {} == guarded_lines(made, made, {"src/pool.py": 9})


def test_renamed_file():
    """Lines are told under the path that they had before."""
    made = [diff((3, ["a = 1"], 3, ["a = 2"]), path="src/new.py", old_path="src/old.py")]
    assert {"src/old.py": (3,)} == removed_lines(made)


def test_new_file():
    """A new file has no lines before."""
    made = [diff((0, [], 1, ["a = 1"]), old_path=None)]
    assert {} == removed_lines(made)
    assert {} == guarded_lines(made, made, {})


def test_pure_addition_guards_its_neighbours():
    """Added lines stand between those that they guard: three before, three after, within the file."""
    made = [diff((5, [], 6, ["if once:"]))]
    assert {} == removed_lines(made)
    assert {"src/pool.py": (3, 4, 5, 6, 7, 8)} == guarded_lines(made, made, {"src/pool.py": 20})
    assert {"src/pool.py": (3, 4, 5, 6)} == guarded_lines(made, made, {"src/pool.py": 6})
    top = [diff((0, [], 1, ["if once:"]))]
    assert {"src/pool.py": (1, 2, 3)} == guarded_lines(top, top, {"src/pool.py": 20})


def test_wrapped_in_an_if():
    """Old code that was merely indented is what a new `if` guards; neighbours do not matter then."""
    without_space = [diff((4, [], 5, ["if once:"]))]
    plain = [diff((5, ["free(pool)", "", "count -= 1"], 5, ["if once:", "    free(pool)", "", "    count -= 1"]))]
    assert {"src/pool.py": (5, 7)} == guarded_lines(without_space, plain, {"src/pool.py": 20})


def test_reindented_alone():
    """A file that is only indented anew is guarded by nothing."""
    plain = [diff((5, ["free(pool)"], 5, ["    free(pool)"]))]
    assert {} == guarded_lines([diff()], plain, {"src/pool.py": 20})


def test_weight():
    """Added and removed lines of shipped code are counted over all files."""
    made = [diff((3, ["a"], 3, ["b", "c"])), diff((1, ["x"], 1, []), path="src/other.py"), diff(path="docs/a.md")]
    assert (2, 2) == weight(made)


def test_surroundings():
    """Twelve lines on each side of what is altered, within the file, and nothing that is altered itself."""
    altered = diff((20, ["a", "b"], 20, ["c"]), (30, [], 29, ["d"]))
    assert {"src/pool.py": (*range(8, 20), *range(22, 41))} == surroundings([altered], {"src/pool.py": 40})


def test_surroundings_of_tests_and_new_files():
    """Only shipped files that were there before have any."""
    new = diff((0, [], 1, ["a"]), old_path=None)
    test = diff((3, ["a"], 3, ["b"]), path="tests/test_pool.py", old_path="tests/test_pool.py")
    assert {} == surroundings([new, test], {"tests/test_pool.py": 9})
