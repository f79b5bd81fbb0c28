"""Which words of a message, and which traits of a change's shape, are looked at?"""

import pytest

from watcher.judge.wording import SIZES, body_words, line_counts, paths_altered, stem, title_words
from watcher.judge.wordweights import BIAS, WEIGHTS
from watcher.model import ChangedPath


def altered(*names):
    """Return altered paths; a plus before a name is a new file, a minus a deleted one."""
    return [
        ChangedPath(
            status={"+": "A", "-": "D"}.get(name[0], "M"), path=name.lstrip("+-"), blob_before=None, blob_after=None
        )
        for name in names
    ]


@pytest.mark.parametrize(
    ("stemmed", "words"),
    [
        ("crash", "crash crashes crashed crashing Crash"),
        ("fix", "fix fixes fixed fixing FIX"),
        ("stop", "stop stops stopped stopping"),
        ("remov", "remove removes removed removing"),
        ("add", "add adds added adding"),
        ("correct", "correct correctly corrects corrected"),
        ("string", "string"),
        ("miss", "miss"),
        ("class", "class"),
        ("is", "is"),
        ("don't", "don't"),
    ],
)
def test_stems(stemmed, words):
    """Forms of one word have one stem; what only looks like an ending stays."""
    assert {stemmed} == {stem(word) for word in words.split()}


@pytest.mark.parametrize(
    "prefix",
    [
        "",
        "fix: ",
        "feat(pool)!: ",
        "[pool] bugfix: ",
        "[Bugfix][Core] ",
        "BUG/MINOR: ",
        "lib/pool.c: ",
        "mux-h2: ",
        "fix: lib: pool: ",
    ],
)
def test_what_stands_before_a_title_is_not_read(prefix):
    """Types, tags and areas say nothing here: the type is a judgement of its own."""
    assert title_words("free it once") == title_words(f"{prefix}free it once")


def test_title():
    """Words, neighbours and the first word are named by stems and shown as they stand."""
    found = title_words("Handles a crashed pool_free()")
    assert {
        "first handl": "Handles",
        "title handl": "Handles",
        "title a": "a",
        "title crash": "crashed",
        "title <name>": "pool_free()",
        "title handl a": "Handles a",
        "title a crash": "a crashed",
        "title crash <name>": "crashed pool_free()",
        "title of harm": "crashed",
        "title of remedy": "Handles",
    } == found


def test_compounds():
    """A hyphen parts words; a name with a digit or an underscore is a name."""
    assert {"title use after", "title after fre", "title of harm"} <= title_words("A use-after-free").keys()
    assert {"title <name>"} == {name for name in title_words("int8_mm") if name.startswith("title")}


@pytest.mark.parametrize(
    "line",
    [
        "Signed-off-by: Crash Crasher <crash@example.org>",
        "Co-authored-by: Crash",
        "- [ ] Crash fix (non-breaking change)",
        "* fix: crash",
        "> it crashed",
        "## Crash",
        "<!-- Say how it crashed -->",
        "| crash |",
    ],
)
def test_what_is_no_prose_is_not_read(line):
    """Trailers, ticks, quotations and the subjects of squashed commits say nothing."""
    assert {"body is none"} == body_words(line).keys()
    assert "body of harm" in body_words(f"{line}\nIt crashed.")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("closes", "Closes #12"),
        ("closes", "fixes owner/project#12"),
        ("closes", "Resolves: https://forge.example/owner/project/issues/12"),
        ("commit", "Since 1a2b3c4d5e the pool is freed"),
        ("trace", "Traceback (most recent call last):"),
        ("trace", "==1== ERROR: AddressSanitizer: heap-use-after-free"),
    ],
)
def test_marks(name, text):
    """References and traces are found where they stand."""
    assert f"body has {name}" in body_words(text)


@pytest.mark.parametrize("text", ["See #12", "encloses #12", "deadbeefcafe", "1234567890", "a prefix #12"])
def test_no_marks(text):
    """A mere number or word is none of them."""
    assert not [name for name in body_words(text) if name.startswith("body has")]


@pytest.mark.parametrize(("length", "words"), [("none", 0), ("short", 25), ("long", 26), ("long", 120), ("huge", 121)])
def test_length_of_a_body(length, words):
    """A body has one of four lengths."""
    assert f"body is {length}" in body_words("word " * words)


@pytest.mark.parametrize(
    ("size", "lines"),
    [("up to 0", 0), ("up to 3", 1), ("up to 3", 3), ("up to 10", 4), ("up to 300", 300), ("over 300", 301)],
)
def test_sizes(size, lines):
    """Added and removed lines fall into steps, each of which is told."""
    assert size in SIZES
    assert {f"adds {size}", "removes up to 0"} == line_counts(lines, 0).keys()


def test_paths():
    """What stands beside the shipped code is told by its kind."""
    found = paths_altered(altered("src/a.c", "+src/b.c", "-src/c.c", "tests/test_a.c", "+tests/test_b.c", "README.md"))
    assert {
        "files 3",
        "with new source",
        "with deleted source",
        "with altered test",
        "with new test",
        "with docs",
    } == found.keys()
    assert "new source: src/b.c" == found["with new source"]
    assert {"files 1", "with build", "with build alone"} == paths_altered(altered("setup.py")).keys()
    assert "files 9 or more" in paths_altered(altered(*(f"src/{number}.c" for number in range(9))))


def test_the_table():
    """It is small, nothing in it is huge or idle, and what it names is what is looked at."""
    assert 100 < len(WEIGHTS) < 400
    assert abs(BIAS) < 1
    assert all(0.1 <= abs(weight) <= 2 for weight in WEIGHTS.values())
    kinds = {"title", "first", "body", "adds", "removes", "files", "with"}
    assert kinds == {name.split()[0] for name in WEIGHTS}
    sizes = {f"{what} {size}" for what in ("adds", "removes") for size in SIZES}
    assert {name for name in WEIGHTS if name.startswith(("adds", "removes"))} <= sizes


@pytest.mark.parametrize("word", ["fix", "crash", "leak", "fail", "empty", "missing"])
def test_words_of_repairs(word):
    """The table and the groups know what people call a repair."""
    assert sum(WEIGHTS.get(name, 0) for name in title_words(f"the {word}")) > 0


@pytest.mark.parametrize("title", ["Add a pool", "Bump the pool", "Rename the pool", "Document the pool", "Fix typo"])
def test_words_of_other_changes(title):
    """… and what they call something else."""
    assert sum(WEIGHTS.get(name, 0) for name in title_words(title)) < 0


def test_hostile_text_is_read_in_linear_time():
    """A crowd of anything keeps no expression busy (the timeout would tell)."""
    for text in ("\n", " ", "a", "a-", "a.", "[", "[a]", "a: ", "A/", "fix ", "fixes a/", "- a", "use after ", "a1"):
        title_words(text * 20_000)
        body_words(f"{text * 20_000}\n{text * 20_000}")
