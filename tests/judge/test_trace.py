"""The landing that an error is about comes first, and the reasons say why."""

from dataclasses import replace

import pytest

from tests.judge.picture import named as oid_of
from watcher.judge.complaint import complaint
from watcher.judge.trace import named_paths, rank, relevant
from watcher.model import Answer, Change, Fix, Grade, Verdict
from watcher.suspicion import Altered, Landing, Named, Suspects

ERROR = complaint("CUresult error: 1 (invalid argument) file=csrc/shelf.cpp func=shelf_free line=12")
PINNED = tuple(f"line {number}" for number in range(1, 61))


def landing(name, *paths, message="Tidy", altered=(), grade=None, answer=None, before=()):
    """Return a landing, a fix where it has a grade."""
    change = Change(landing=oid_of(name), before=oid_of("P"), commits=(oid_of(name),), title=name)
    fix = None
    if grade:
        fix = Fix(id=name, upstream="", change=change, grade=grade, evidence=(), paths=paths)
    return Landing(
        change=change,
        title=name,
        message=message,
        paths=paths,
        altered=tuple(altered),
        before=dict.fromkeys(before, PINNED),
        fix=fix,
        verdict=Verdict(fix=name, answer=answer, where=(), reason="") if answer else None,
    )


def place(path, first, *inside, text=("x = 1",)):
    """Return one altered place."""
    return Altered(path=path, first=first, last=first, text=text, inside=inside)


def order(*landings, said=ERROR, pinned=()):
    """Return the names of landings as they are ranked, those that have nothing to do with the error left out."""
    tree = {path for it in landings for path in it.paths}
    known = Suspects(landings=landings, named=named_paths(said, tree), pinned=dict.fromkeys(pinned, PINNED))
    return [it.landing.title for it in relevant(rank(said, known))]


def test_a_named_file_counts():
    """Others do not."""
    assert ["A"] == order(landing("B", "csrc/other.cpp"), landing("A", "csrc/shelf.cpp"))


def test_a_named_function_counts_for_more_than_the_file_alone():
    """Inside it, whatever the file is; in the named file it counts most."""
    other = landing("other", "csrc/shelf_rocm.cpp", altered=[place("csrc/shelf_rocm.cpp", 5, "shelf_free")])
    both = landing("both", "csrc/shelf.cpp", altered=[place("csrc/shelf.cpp", 40, "shelf_free")])
    file = landing("file", "csrc/shelf.cpp", altered=[place("csrc/shelf.cpp", 40, "shelf_put")])
    assert "both" == order(file, other, both)[0]
    assert {"other", "both", "file"} == set(order(file, other, both))


def test_a_changed_line_near_the_named_one_counts():
    """Where the file before the change has it: lines move while landings go by."""
    near = landing("near", "csrc/shelf.cpp", altered=[place("csrc/shelf.cpp", 13)], before=["csrc/shelf.cpp"])
    far = landing("far", "csrc/shelf.cpp", altered=[place("csrc/shelf.cpp", 59)], before=["csrc/shelf.cpp"])
    assert ["near", "far"] == order(far, near, pinned=["csrc/shelf.cpp"])
    moved = replace(near, before={"csrc/shelf.cpp": ("new",) * 46 + PINNED}, altered=far.altered)
    assert ["near", "far"] == order(far, moved, pinned=["csrc/shelf.cpp"])


def test_words_of_the_message_and_of_the_lines_count():
    """Without any file or function."""
    said = complaint("the quorum is lost")
    by_message = landing("message", "a.c", message="Do not lose the quorum")
    by_lines = landing("lines", "b.c", altered=[place("b.c", 1, text=("if (quorum) return;",))])
    assert {"message", "lines"} == set(order(landing("none", "c.c"), by_message, by_lines, said=said))


def test_what_is_rare_counts_for_more():
    """A file that one landing in twenty alters says more than one that all of them alter."""
    said = complaint("common.c:1 rare.c:1")
    many = [landing(f"L{number}", "common.c") for number in range(20)]
    assert "rare" == order(*many, landing("rare", "rare.c"), said=said)[0]


def test_a_fix_that_the_pin_is_affected_by_comes_before_an_equal_change():
    """And one that does not concern the pin after a fix that does."""
    plain = landing("plain", "csrc/shelf.cpp")
    fix = landing("fix", "csrc/shelf.cpp", grade=Grade.LIKELY, answer=Answer.YES)
    other = landing("other", "csrc/shelf.cpp", grade=Grade.LIKELY, answer=Answer.NO)
    assert "fix" == order(plain, other, fix)[0]


def test_a_change_that_alters_everything_is_less_to_the_point():
    """A reformatting alters what is named, too."""
    everything = landing("everything", "csrc/shelf.cpp", *(f"csrc/part{number}.cpp" for number in range(200)))
    assert ["one", "everything"] == order(everything, landing("one", "csrc/shelf.cpp"))


def test_equals_stay_in_the_order_in_which_they_landed():
    """The earlier one costs fewer commits."""
    assert ["A", "B"] == order(landing("A", "csrc/shelf.cpp"), landing("B", "csrc/shelf.cpp"))


def test_nothing_relevant_is_nothing():
    """Neither for an error that names nothing, nor where nothing landed."""
    assert [] == order(landing("A", "csrc/other.cpp"))
    assert [] == order(landing("A", "csrc/shelf.cpp"), said=complaint(""))
    assert [] == order()


def test_each_part_names_what_is_shared():
    """So that the reason can be told."""
    it = landing("A", "csrc/shelf.cpp", message="invalid argument", altered=[place("csrc/shelf.cpp", 3, "shelf_free")])
    [found] = rank(ERROR, Suspects(landings=(it,), named=named_paths(ERROR, it.paths)))
    parts = {part.what: part.named for part in found.parts}
    assert {"file", "function", "message", "code"} == set(parts)
    assert (("csrc/shelf.cpp",), ("shelf_free",)) == (parts["file"], parts["function"])
    assert {"invalid", "argument"} == set(parts["message"])


@pytest.mark.parametrize(
    ("printed", "tree", "expected"),
    [
        ("csrc/shelf.cpp", ["csrc/shelf.cpp", "old/shelf.cpp"], {"csrc/shelf.cpp": 1.0}),
        ("/build/x/csrc/shelf.cpp", ["csrc/shelf.cpp"], {"csrc/shelf.cpp": 1.0}),
        ("shelf.cpp", ["csrc/shelf.cpp"], {"csrc/shelf.cpp": 1.0}),
        (
            "/usr/lib/python3/dist-packages/shelf/pool.py",
            ["src/shelf/pool.py", "tests/pool.py"],
            {"src/shelf/pool.py": 0.7},
        ),
        ("/opt/other/pool.py", ["src/shelf/pool.py"], {"src/shelf/pool.py": 0.3}),
        ("mod.rs", ["a/mod.rs", "b/mod.rs"], {"a/mod.rs": 0.5, "b/mod.rs": 0.5}),
        ("/usr/lib/python3.11/asyncio/base_events.py", ["shelf/pool.py"], {}),
    ],
)
def test_printed_paths_are_found_in_the_tree(printed, tree, expected):
    """By their ends: what stands before is where something was built or installed. Less sure where less is shared."""
    assert expected == {path: it.weight for path, it in named_paths(complaint(printed), tree).items()}


def test_a_file_that_was_renamed_later_counts_for_less():
    """The landing alters it under its new name, which the pinned tree has not."""
    found = named_paths(complaint("old/shelf.cpp:3"), ["old/shelf.cpp"], ["new/shelf.cpp"])
    assert Named(path="new/shelf.cpp", weight=0.5, lines=frozenset()) == found["new/shelf.cpp"]


def test_the_frames_of_a_stack_count_by_their_nearness():
    """The first one of the tree most."""
    found = named_paths(complaint("#0 f a.c:1\n#1 g b.c:2\n#2 h libc.c:3"), ["a.c", "b.c"])
    assert found["a.c"].weight > found["b.c"].weight > 0
