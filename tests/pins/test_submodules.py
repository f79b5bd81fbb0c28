"""The folder of a submodule is read from its section of `.gitmodules`."""

import pytest

from watcher.pins.gitmodules import folder_of

ADDRESS = "\turl = https://h/a/b"


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (["\tpath = deps/b"], [], "deps/b"),
        (["", "# x", "\tbranch = main"], ["", "", "\tPath=deps/b/"], "deps/b"),
        (["\tpath = deps/a", "\tpath = deps/b"], [], "deps/b"),
        (['\tpath = "deps/b c\\"#d" # x'], [], 'deps/b c"#d'),
        (["\tpath = deps/b ; x"], [], "deps/b"),
        (["\tpath ="], [], None),
        ([], [], "b"),
        (["\tpathology = x"], [], "b"),
    ],
    ids=["before", "after", "twice", "quoted", "comment", "empty", "none", "another key"],
)
def test_the_path_of_the_section_and_of_no_other(before, after, expected):
    """Wherever it stands there, and as git reads it: the last one counts. Without one it is called like the section."""
    own = ['[submodule "b"]', *before, ADDRESS, *after]
    lines = ['[submodule "a"]', "\tpath = a", *own, '[submodule "c"]', "\tpath = c"]
    assert expected == folder_of("\n".join(lines), lines.index(ADDRESS) + 1)


def test_an_entry_on_the_line_of_its_header():
    """Git allows it."""
    assert "deps/b" == folder_of(f'[submodule "b"] path = deps/b\n{ADDRESS}\n', 2)


@pytest.mark.parametrize("line", [0, 3])
def test_a_line_that_is_not_there(line):
    """It has no folder."""
    assert folder_of(f"path = x\n{ADDRESS}", line) is None
