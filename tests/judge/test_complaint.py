"""What an error text names is found in tracebacks, stacks and compiler errors of every kind."""

import pytest

from watcher.judge.complaint import complaint, terms

TRACEBACK = """\
Traceback (most recent call last):
  File "/usr/lib/python3/dist-packages/shelf/pool.py", line 7, in put
    take(it)
  File "/srv/shelf/slots.py", line 31, in take
ValueError: no slot left
"""
PYTEST = """\
tests/test_pool.py:12: in test_put
    pool.put(1)
shelf/pool.py:40: ValueError
"""
COMPILER = """\
src/shelf.c: In function ‘shelf_free’:
src/shelf.c:14:5: error: implicit declaration of ‘drop’
"""
GDB = """\
#0  0x00007f in free () from /lib64/libc.so.6
#1  0x0000 in Pool::drop (this=0x0) at pool.cpp:31
"""
ASAN = """\
==7==ERROR: AddressSanitizer: heap-use-after-free on address 0x604000074050
    #0 0x55b343 in shelf_free /build/src/shelf.c:14:9
"""
RUST = """\
thread 'main' panicked at src/pool.rs:88:14:
no slot
   4: shelf::pool::Pool::take
             at ./src/pool.rs:88
"""
GO = """\
panic: send on closed channel

goroutine 7 [running]:
example.org/shelf/pool.(*Pool).Put(0xc000, {0x1})
\t/go/src/example.org/shelf/pool/pool.go:31 +0x1f6
"""
SCRIPT = """\
TypeError: no slot
    at Pool.take (/app/node_modules/shelf/lib/pool.js:31:7)
"""


@pytest.mark.parametrize(
    ("text", "files", "functions"),
    [
        ("CUresult error: 1 file=csrc/core.cpp func=free", {"csrc/core.cpp": set()}, ("free",)),
        ("error: 1 file=csrc/core.cpp func=free line=103", {"csrc/core.cpp": {103}}, ("free",)),
        (
            TRACEBACK,
            {"srv/shelf/slots.py": {31}, "usr/lib/python3/dist-packages/shelf/pool.py": {7}},
            ("take", "put"),
        ),
        (PYTEST, {"shelf/pool.py": {40}, "tests/test_pool.py": {12}}, ("put", "test_put")),
        (COMPILER, {"src/shelf.c": {14}}, ("shelf_free",)),
        (GDB, {"pool.cpp": {31}}, ("free", "drop")),
        (ASAN, {"build/src/shelf.c": {14}}, ("shelf_free",)),
        (RUST, {"src/pool.rs": {88}}, ("take",)),
        (GO, {"go/src/example.org/shelf/pool/pool.go": {31}}, ("Put",)),
        (SCRIPT, {"app/node_modules/shelf/lib/pool.js": {31}}, ("take",)),
        (r"C:\work\shelf\pool.cpp(31): error C2065", {"work/shelf/pool.cpp": {31}}, ()),
        ("../lib/pool.c:3: undefined reference to `pool_drop'", {"lib/pool.c": {3}}, ("pool_drop",)),
        ("\x1b[31mpool.c:3:1:\x1b[0m error: expected ‘;’", {"pool.c": {3}}, ()),
        ("it is broken, e.g. at noon", {}, ()),
    ],
)
def test_files_lines_and_functions(text, files, functions):
    """In the order of nearness to the error: Python's tracebacks end with it, the others begin with it."""
    said = complaint(text)
    assert files == {path: set(lines) for path, lines in said.files.items()}
    assert list(files) == list(said.files)
    assert functions == said.functions


def test_names_count_whole_and_in_parts():
    """A name that is spelled another way in a message is found by its parts; words by their stems."""
    assert ["cumemrelease", "mem", "releas"] == [term for term, _ in terms("cuMemRelease")]
    assert ["shelf_free", "shelf", "fre"] == [term for term, _ in terms("shelf_free")]
    assert [term for term, _ in terms("dropped")] == [term for term, _ in terms("dropping")]


def test_addresses_and_common_words_are_no_words():
    """They say nothing about the error, or are rare by chance."""
    assert [] == [term for term, _ in terms("error at 0x55b34337d96c in the file 7f0cafe")]


def test_words_are_shown_as_they_stand_in_the_text():
    """A stem is no word to show."""
    assert "Releasing" in complaint("Releasing pages").spelled.values()


def test_of_a_long_log_the_errors_are_read():
    """What a build printed before, far from any error, has no weight."""
    quiet = [f"[{number}/9000] Building CXX object lib/part{number}.cpp" for number in range(9000)]
    said = complaint("\n".join([*quiet, "src/shelf.c:14:5: error: ‘drop’ undeclared", *quiet[:100]]))
    assert {14} == said.files["src/shelf.c"]
    assert len(said.files) < 50


def test_megabytes_of_one_line_are_no_trouble():
    """Neither for time nor for memory; a hostile text has no pattern that explodes."""
    assert {} == complaint("a/" * 500_000).files
    assert () == complaint("((((" * 200_000 + "::" * 200_000).functions
