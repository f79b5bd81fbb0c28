"""The definitions around a line are found by indentation, in any language."""

import pytest

from watcher.judge.enclosing import defined, enclosing

C = """\
#include "shelf.h"

static int
shelf_free(Shelf *shelf,
           int slot)
{
    if (slot > 0) {
        drop(shelf);
out:
        give();
    }
}

int shelf_count(void) {
    return 0;
}
"""
PYTHON = """\
class Pool:
    size = 3

    def put(
        self,
        page: int,
    ) -> bool:
        if page:

            return True

    def take(self):
        def inner():
            return 1
        return inner
"""
RUST = """\
impl<T> Pool<T>
where
    T: Page,
{
    pub fn take(&mut self) -> Option<T> {
        match self.next() {
            Some(it) => it,
        }
    }
}
"""
GO = "func (p *Pool) Put(it Page) error {\n\tif it == nil {\n\t\treturn errNil\n\t}\n}\n"
SCRIPT = "export const take = async (pool) => {\n  return pool.next();\n};\n"


@pytest.mark.parametrize(
    ("text", "number", "names"),
    [
        (C, 8, ("shelf_free",)),
        (C, 10, ("shelf_free",)),
        (C, 15, ("shelf_count",)),
        (C, 1, ()),
        (PYTHON, 2, ("Pool",)),
        (PYTHON, 9, ("put", "Pool")),
        (PYTHON, 14, ("inner", "take", "Pool")),
        (RUST, 7, ("take", "Pool")),
        (GO, 3, ("Put",)),
        (SCRIPT, 2, ("take",)),
    ],
)
def test_the_innermost_comes_first(text, number, names):
    """Conditions, labels and braces of their own are not names."""
    assert names == enclosing(text.split("\n"), number)


def test_a_line_beyond_the_end_is_in_nothing_strange():
    """A hunk may stand after the last line."""
    assert ("shelf_count",) == enclosing(C.split("\n"), 17)[:1] or () == enclosing(C.split("\n"), 17)
    assert () == enclosing([], 1)


def test_what_a_line_defines_or_calls():
    """Names before a parenthesis, and after the words that define."""
    assert ("put",) == defined("    def put(self):")
    assert ("Pool",) == defined("class Pool:")
    assert ("drop", "next") == defined("    if (drop(next(it)))")
