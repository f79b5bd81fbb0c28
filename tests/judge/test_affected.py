"""What does one fix mean for one pin?"""

from dataclasses import replace

import pytest

from tests.judge.picture import drawn, fix_of, named
from watcher.judge.affected import CHANCES, Pinned, numbered, verdict
from watcher.judge.equivalents import Index
from watcher.model import Anchor, Answer, Repair

TEXT = ("import pool", "", "def free(it):", "    pool.free(it)", "    count -= 1", "    log(it)")
HISTORY = "A---B---C---P---D---F---E  (main)"


def anchor(line, origin, *older, is_removed=True, path="src/pool.py", text=None, **more):
    """Return an anchor on a line of TEXT, with the drawn names of its origins."""
    said = text if text is not None else TEXT[line - 1]
    return Anchor(
        path=path,
        line=line,
        text=said,
        is_removed=is_removed,
        origins=tuple(map(named, (origin, *older))),
        **{"paths": (path,), "wordings": (said,)} | more,
    )


def judge(
    *anchors,
    pin="P",
    variant="cuda",
    paths=("src/pool.py",),
    texts=None,
    introduced=(),
    it=None,
    landing="F",
    tree=None,
    nearby=None,
    created=(),
):
    """Return the verdict on a fix with such anchors for a pinned commit."""
    it = it or drawn(HISTORY)
    texts = {"src/pool.py": TEXT} if texts is None else texts
    fix = replace(fix_of(it.change(landing), paths=paths, introduced=introduced), created=frozenset(created))
    around = {"src/pool.py": named(nearby)} if nearby else {}
    repair = Repair(landing=named(landing), bound=None, anchors=anchors, added=1, removed=1, nearby=around)
    pinned = Pinned(
        ancestors=frozenset(it.graph.ancestors(named(pin))),
        variant=variant,
        paths=frozenset(texts if tree is None else tree),
        texts={path: numbered(lines) for path, lines in texts.items()},
    )
    return verdict(fix, it.same(landing), repair, pinned, Index(it.commits))


def answer(*anchors, **more):
    """Return the answer and the places alone."""
    said = judge(*anchors, **more)
    return said and (said.answer.value, said.where)


def test_removed_line_in_the_pin():
    """A line that the fix removes and the pin has makes it affected, with the place in the pinned tree."""
    said = judge(anchor(4, "B"))
    assert (Answer.YES, ("src/pool.py:4",)) == (said.answer, said.where)
    assert "the line that it repairs is in the pin" == said.reason
    assert None is said.contained_as


def test_introduced_after_the_pin():
    """Lines that came after the pin make it unaffected, and the reason names the commit that brought them."""
    said = judge(anchor(4, "D"), anchor(5, "D"))
    assert (Answer.NO, ()) == (said.answer, said.where)
    assert f"the lines that it repairs came in {named('D')[:12]}, which the pin lacks" == said.reason


@pytest.mark.parametrize(
    ("inside", "outside", "said"), [(3, 0, "yes"), (2, 1, "unsure"), (1, 1, "unsure"), (1, 2, "unsure"), (0, 3, "no")]
)
def test_share(inside, outside, said):
    """All of the lines are yes, none is no, and between them it is unsure."""
    anchors = [anchor(4, "B") for _ in range(inside)] + [anchor(5, "D") for _ in range(outside)]
    assert said == answer(*anchors)[0]


def test_unsure_names_what_came_later():
    """Between few and most the reason counts, and names the commit that brought most of the rest."""
    said = judge(anchor(4, "B"), anchor(4, "B"), anchor(5, "D"), anchor(5, "D"), anchor(6, "F"))
    expected = f"2 of 5 lines that it repairs are in the pin, the rest is of {named('D')[:12]}"
    assert (Answer.UNSURE, expected) == (said.answer, said.reason)


def test_most_lines_are_rather_yes_and_half_rather_no():
    """Where it is unsure, what it rests on says which is likelier."""
    most = judge(anchor(4, "B"), anchor(4, "B"), anchor(5, "D"))
    half = judge(anchor(4, "B"), anchor(5, "D"))
    assert ("most lines", "half of the lines") == (most.basis, half.basis)
    assert half.chance < 0.5 <= most.chance


@pytest.mark.parametrize(
    ("kind", "answer"),
    [
        ({"is_removed": True}, Answer.YES),
        ({"is_removed": False, "is_wrapped": True}, Answer.YES),
        ({"is_removed": False}, Answer.UNSURE),
    ],
)
def test_lines_around_came_later(kind, answer):
    """The pin has all lines, but others beside them are newer: the bug may have come with those."""
    sure = judge(anchor(4, "B", **kind), nearby="C")
    less = judge(anchor(4, "B", **kind), nearby="D")
    assert (Answer.YES, answer) == (sure.answer, less.answer)
    assert less.chance < sure.chance
    assert less.reason == f"{sure.reason}; lines around came later"


def test_a_fix_that_only_creates_files():
    """What it creates is in no pin, so that its absence says nothing; the absence of what it alters does."""
    assert "unsure" == answer(paths=("src/new.py",), created=("src/new.py",))[0]
    assert "no" == answer(paths=("src/new.py", "src/old.py"), created=("src/new.py",))[0]


def test_every_basis_has_a_chance():
    """A verdict's chance is that of what it rests on."""
    said = judge(anchor(4, "B"))
    assert CHANCES[said.basis] == said.chance


def test_few_lines_are_no():
    """Less than a third of the lines: the bug came with the others."""
    said = judge(anchor(4, "B"), anchor(5, "D"), anchor(5, "D"), anchor(6, "F"))
    assert Answer.NO is said.answer
    assert said.reason.startswith("only 1 of 4 lines that it repairs are in the pin")


def test_contained():
    """A pin that has the landing has the fix, whatever the lines say."""
    said = judge(anchor(4, "B"), pin="E")
    assert (Answer.NO, named("F"), "the pin has it") == (said.answer, said.contained_as, said.reason)


def test_contained_under_another_id():
    """A pin that has a pick of the fix has it, and is told as which commit."""
    it = drawn(
        "A---B---F  (main)\n     \\\n      Q---P  (release/1)",
        messages={"Q": "q\n\n(cherry picked from commit {F})"},
    )
    said = judge(anchor(4, "B"), it=it)
    assert (Answer.NO, named("Q")) == (said.answer, said.contained_as)
    assert f"the pin has the same change as {named('Q')[:12]}" == said.reason


def test_text_found_at_another_line():
    """The places are those in the pinned tree: of equal lines the nearest one, white space aside."""
    moved = ("# a", "# b", "  pool.free( it )", "", "", "pool.free(it)", "", "", "", "pool.free(it)")
    assert ("yes", ("src/pool.py:3",)) == answer(anchor(4, "B"), texts={"src/pool.py": moved})
    assert ("yes", ("src/pool.py:6",)) == answer(anchor(7, "B", text="pool.free(it)"), texts={"src/pool.py": moved})


def test_places_are_sorted_and_told_once():
    """Lines are told in the order of the files, each once."""
    assert ("yes", ("src/pool.py:4", "src/pool.py:6")) == answer(
        anchor(6, "B"), anchor(4, "B"), anchor(4, "B", text="pool.free(it)")
    )


def test_missing_text():
    """A line whose history the pin has but whose text it has not leaves us unsure: it was rewritten."""
    said = judge(anchor(4, "B", text="gone()"))
    assert (Answer.UNSURE, ()) == (said.answer, said.where)
    assert "the pin has the history of the line it repairs, but not the text" == said.reason


def test_renamed_file():
    """A line is found under a path that the file had before."""
    moved = anchor(4, "B", path="src/new.py", paths=("src/new.py", "src/old.py"))
    assert ("yes", ("src/old.py:4",)) == answer(moved, paths=("src/new.py",), texts={"src/old.py": TEXT})


def test_reworded_line():
    """A guarded line is found by a wording that it had before."""
    reworded = anchor(
        4, "D", "B", is_removed=False, text="pool.free(it, once)", wordings=("pool.free(it, once)", TEXT[3])
    )
    assert ("yes", ("src/pool.py:4",)) == answer(reworded)


def test_pure_addition():
    """A fix that only adds guards lines; the pin is affected if it has them, or the lines which they grew from."""
    said = judge(anchor(4, "D", "B", is_removed=False), anchor(5, "A", is_removed=False))
    assert (Answer.YES, ("src/pool.py:4", "src/pool.py:5")) == (said.answer, said.where)
    assert "2 of 2 lines that it guards are in the pin" == said.reason
    assert ("no", ()) == answer(anchor(4, "D", is_removed=False))


def test_an_altered_line_is_its_last_wording():
    """A removed line counts by the commit that gave it its last wording, not by those before."""
    assert "no" == answer(anchor(4, "D", "B"))[0]


def test_older_than_every_pin():
    """A line beyond the bound of blame is in every pin."""
    assert "yes" == answer(anchor(4, "nowhere", is_older=True))[0]
    assert "yes" == answer(anchor(4, "D", "nowhere", is_removed=False, is_older=True))[0]
    assert "no" == answer(anchor(4, "D", "nowhere", is_older=True))[0]


def test_origin_under_another_id():
    """A pin has a line also by a pick of the commit that brought it."""
    it = drawn(
        r"""
      D---F---E  (main)
     /
A---B---Q---P    (release/1)
""",
        messages={"Q": "q\n\n(cherry picked from commit {D})"},
    )
    assert ("yes", ("src/pool.py:4",)) == answer(anchor(4, "D"), it=it)


def test_no_anchor():
    """A change without a line to trace leaves us unsure, or says that its file does not exist at the pin."""
    said = judge()
    assert (Answer.UNSURE, "it alters src/pool.py but leaves no line to trace") == (said.answer, said.reason)
    said = judge(tree=())
    assert (Answer.NO, "src/pool.py does not exist at the pin") == (said.answer, said.reason)


def test_lines_not_computed():
    """Without a repair it is unsure as well."""
    it = drawn(HISTORY)
    pinned = Pinned(ancestors=frozenset(), variant="cuda", paths=frozenset({"src/pool.py"}), texts={})
    said = verdict(fix_of(it.change("F")), it.same("F"), None, pinned, Index(it.commits))
    assert Answer.UNSURE is said.answer


ROCM, CUDA = "csrc/hip_pool.cpp", "csrc/cuda_pool.cpp"
BOTH = {ROCM: TEXT, CUDA: TEXT, "src/pool.py": TEXT}


@pytest.mark.parametrize(
    ("variant", "paths", "said"),
    [
        ("rocm", (ROCM,), "yes"),
        ("any", (ROCM,), "yes"),
        ("cuda", (ROCM,), None),
        ("cuda", (CUDA,), "yes"),
        ("rocm", (CUDA,), "unsure"),
        ("npu", (CUDA,), None),
        ("cuda", (CUDA, ROCM), "yes"),
        ("rocm", (CUDA, ROCM), "yes"),
        ("npu", (CUDA, ROCM), None),
    ],
)
def test_variants(variant, paths, said):
    """A variant's file does not concern another variant; a ROCm build may translate CUDA code, or not use it."""
    found = answer(*(anchor(4, "B", path=path) for path in paths), variant=variant, paths=paths, texts=BOTH)
    assert said == (found and found[0])


def test_only_the_variants_own_lines_count():
    """For a CUDA pin the lines of ROCm files are neither counted nor told."""
    anchors = (anchor(4, "B", path=CUDA), anchor(4, "D", path=ROCM), anchor(5, "D", path=ROCM))
    assert ("yes", (f"{CUDA}:4",)) == answer(*anchors, variant="cuda", paths=(CUDA, ROCM), texts=BOTH)
    assert "unsure" == answer(*anchors, variant="rocm", paths=(CUDA, ROCM), texts=BOTH)[0]


def test_translated_is_not_no():
    """CUDA lines that came after the pin do not concern a ROCm pin either."""
    assert "no" == answer(anchor(4, "D", path=CUDA), variant="rocm", paths=(CUDA,), texts=BOTH)[0]


def test_message_names_the_culprit():
    """A message that names the commit which brought the bug decides, whether the pin has it or lacks it."""
    said = judge(anchor(4, "D"), introduced=("B",))
    assert Answer.YES is said.answer
    assert said.reason.startswith(f"its message names {named('B')[:12]}, which the pin has")
    said = judge(anchor(4, "B"), anchor(5, "D"), introduced=("D",))
    assert Answer.NO is said.answer
    assert said.reason.startswith(f"its message names {named('D')[:12]}, which the pin lacks; ")


def test_message_against_all_lines():
    """Where the pin lacks the named commit and yet has every repaired line, the message decides: its author knew."""
    said = judge(anchor(4, "B"), introduced=("D",))
    assert (Answer.NO, True) == (said.answer, "which the pin lacks; the line" in said.reason)
    assert "no" == answer(introduced=("D",))[0]


def test_message_names_a_pick():
    """A pin that has a pick of the named commit has the bug."""
    it = drawn(
        r"""
      D---F---E  (main)
     /
A---B---Q---P    (release/1)
""",
        messages={"Q": "q\n\n(cherry picked from commit {D})"},
    )
    assert "yes" == answer(anchor(4, "F"), it=it, introduced=("D",))[0]


def test_numbered():
    """Lines are found by their text without white space; blank ones among them."""
    assert {"ab": [1, 3], "": [2]} == numbered(["a b", " ", "\tab"])
