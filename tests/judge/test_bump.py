"""Which is the smallest published commit that gives a pin its fixes?"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.judge.picture import Counting, drawn, named, pictured, row
from watcher.graph import Graph
from watcher.judge.bump import Ladder
from watcher.judge.equivalents import Equivalents, Revert
from watcher.judge.lines import Line, published_lines


def ladder(it, pin, own=None, start=None):
    """Return the ladder of a pin over the published lines, the named one first."""
    lines = published_lines(it.refs, it.graph, [own] if own else [])
    return Ladder(named(pin), lines, it.graph, it.commits, named(start) if start else None)


def brief(it, rung):
    """Return (target, new commits, landings passed, line) of a rung, or None."""
    return rung and (it.name(rung.to), rung.commits, rung.landings, rung.line.split("/", 2)[2])


def smallest(it, pin, *landings, own=None, start=None):
    """Return the smallest bump that brings what landed with some commits."""
    return brief(it, ladder(it, pin, own, start).minimal([it.same(landing) for landing in landings]))


# The shape of a real history: two repairs came by merged branches, the second one cut after the first had landed.
POOL = r"""
      q1--q2       r1--r2   s1       t1
     /      \     /      \ /  \     /  \
O---K--------Q---P--------R----S---E----T---U  (main, tag: v1)
"""


def test_the_merge_is_the_target():
    """A commit inside a branch was never the tip of a line: the target is the merge, though the commit is cheaper."""
    it = drawn(POOL)
    assert ("R", 3, 1, "main") == smallest(it, "P", "R")
    assert ("S", 5, 2, "main") == smallest(it, "P", "S")
    assert ("S", 5, 2, "main") == smallest(it, "P", "R", "S")
    assert 4 == len(it.graph.between(named("P"), named("s1")))


@pytest.mark.parametrize(
    ("pin", "commits", "landings"), [("O", 10, 5), ("K", 9, 4), ("q1", 8, 4), ("Q", 6, 3), ("P", 5, 2)]
)
def test_every_past_pin(pin, commits, landings):
    """Every state that was ever pinned has the same target; also one inside a branch that was merged later."""
    assert ("S", commits, landings, "main") == smallest(drawn(POOL), pin, "R", "S")


def test_squash_and_direct():
    """A squash is its own target, and what lies between pin and target is counted."""
    it = drawn("A---P---B---F---C  (main)")
    assert ("F", 2, 2, "main") == smallest(it, "P", "F")
    assert ("P", 0, 0, "main") == smallest(it, "P", "A")


def test_no_line_and_no_fix():
    """Without lines, or where no line has the fix, there is no target."""
    it = drawn("A---P---B  (main)\n\nX")
    assert None is smallest(it, "P", "X")
    assert None is Ladder(named("P"), (), it.graph, it.commits).minimal([it.same("B")])
    assert () == Ladder(named("P"), (), it.graph, it.commits).rungs({"b": it.same("B")})


BACKPORT = r"""
      F---G---H            (main)
     /
A---B---P---Q---R          (release/1.x)
"""


def test_backport():
    """For a pin on a release branch the target is the backport on that branch."""
    it = drawn(BACKPORT, messages={"Q": "q\n\n(cherry picked from commit {F})"})
    assert ("Q", 1, 1, "release/1.x") == smallest(it, "P", "F", own="release/1.x")
    assert None is smallest(drawn(BACKPORT), "P", "F", own="release/1.x")


def test_own_line_first():
    """The pin's own line is taken though another one needs fewer commits, which is what `elsewhere` tells."""
    it = drawn(
        r"""
      C---D---F---E      (main)
     /
A---P---Q---R            (release/1.x)
""",
        messages={"Q": "q\n\n(cherry picked from commit {F})"},
    )
    assert ("F", 3, 3, "main") == smallest(it, "P", "F")
    assert ("Q", 1, 1, "release/1.x") == brief(it, ladder(it, "P").elsewhere([it.same("F")]))


def test_unmerged_branch():
    """A pin on a branch that was never merged has no target on a published line."""
    it = drawn("    X---P---F'  (topic)\n   /\nA---B---F  (main)")
    assert None is smallest(it, "P", "F")
    assert None is smallest(it, "P", "F'")


def test_start_in_place_of_the_pin():
    """Where nothing contains the pin, a target need only contain its start, but is never a state that the pin has."""
    it = drawn("    X---P  (topic)\n   /\nA---B---F---C  (main)")
    assert ("F", 2, 2, "main") == smallest(it, "P", "F", start="A")
    caught_up = drawn(
        r"""
      X-------P         (topic)
     /       /
A---F---R---C---L---E   (main)
""",
        messages={"R": 'Revert "F"\n\nThis reverts commit {F}.', "L": "Again\n\n(cherry picked from commit {F})"},
    )
    assert ("L", 1, 1, "main") == smallest(caught_up, "P", "F", start="A")


def test_start_is_the_second_choice():
    """A target that contains the pin is taken before one that contains only its start, though it is dearer."""
    it = drawn(
        "    P---X---Y---Q  (topic)\n   /\nA---B---F---C  (main)",
        messages={"Q": "q\n\n(cherry picked from commit {F})"},
    )
    assert ("Q", 3, 3, "topic") == smallest(it, "P", "F", own="topic", start="A")
    assert None is ladder(it, "P", "topic", "A").elsewhere([it.same("F")])


def test_reverted():
    """A fix that was taken back is offered only while it stood, and by nothing afterwards; a re-landing is."""
    messages = {"R": 'Revert "F"\n\nThis reverts commit {F}.'}
    text = "A---P---F---B---R---Q---L---E  (main)"
    it = drawn(text, messages=messages)
    assert ("F", 1, 1, "main") == smallest(it, "P", "F")
    assert None is smallest(it, "Q", "F")
    assert None is smallest(it, "P", "F", "R")
    again = drawn(text, messages={**messages, "L": "Again\n\n(cherry picked from commit {F})"})
    assert ("L", 1, 1, "main") == smallest(again, "Q", "F")
    back = drawn(text, messages={**messages, "L": "Again\n\nThis reverts commit {R}."})
    assert ("L", 1, 1, "main") == smallest(back, "Q", "F")
    assert ("L", 5, 5, "main") == smallest(back, "P", "F", "L")


def test_a_pin_that_took_the_fix_back():
    """A pin which has the fix and its revert is bumped forward to the re-landing, never back to the fix."""
    it = drawn(
        "A---F---P---C---L  (main)",
        messages={"P": 'Revert "F"\n\nThis reverts commit {F}.', "L": "Again\n\nThis reverts commit {P}."},
    )
    assert ("L", 2, 2, "main") == smallest(it, "P", "F")


def test_ties():
    """Between lines the earlier committer date wins a tie, then the smaller id."""
    text = """
    F1---X  (release/1)
   /
A-P-B     (main)
   \\
    F2---Y  (release/2)
"""
    messages = {"F2": "f\n\n(cherry picked from commit {F1})"}
    first, second = sorted(("F1", "F2"), key=named)
    it = drawn(text, messages=messages, committed={"F1": 9, "F2": 9})
    assert first == brief(it, ladder(it, "P").elsewhere([it.same("F1")]))[0]
    it = drawn(text, messages=messages, committed={first: 9, second: 8})
    assert second == brief(it, ladder(it, "P").elsewhere([it.same("F1")]))[0]


def rungs(it, pin, *landings, own=None):
    """Return (target, fixes that it has) of each rung."""
    found = ladder(it, pin, own).rungs({landing: it.same(landing) for landing in landings})
    return [(it.name(rung.to), rung.fixes) for rung in found]


def test_ladder():
    """Each rung has the fixes of those below it; two fixes of one target share a rung."""
    it = drawn(POOL)
    assert [("R", ("R",)), ("S", ("R", "S")), ("T", ("R", "S", "T"))] == rungs(it, "P", "R", "S", "T")
    assert [("R", ("R",)), ("T", ("T", "R"))] == rungs(it, "P", "T", "R")
    assert [] == rungs(it, "P")


def test_ladder_leaves_out_what_cannot_be_had():
    """A fix that no line offers is left out."""
    it = drawn("A---P---F  (main)\n\nX")
    assert [("F", ("F",))] == rungs(it, "P", "X", "F")


def test_ladder_of_fixes_on_two_lines():
    """Fixes that no line has together stand on rungs of their own."""
    it = drawn("      F---G  (main)\n     /\nA---P---E     (release/1)")
    assert [("E", ("E",)), ("F", ("F",))] == sorted(rungs(it, "P", "F", "E"))


def test_ladder_of_lines_that_meet():
    """Fixes of two lines have a rung each, and one where a third line has both."""
    it = drawn(
        r"""
      F---G            (main)
     /
A---P---E              (release/1)
     \
      S---T---U---V    (tag: v9)
""",
        messages={"T": "t\n\n(cherry picked from commit {E})", "U": "u\n\n(cherry picked from commit {G})"},
    )
    assert [("E", ("E",)), ("G", ("G",)), ("U", ("G", "E"))] == rungs(it, "P", "G", "E")


def test_ladder_with_a_revert_between():
    """A rung names only fixes that stand at it: one that was reverted before the next landed is given up there."""
    it = drawn("A---P---F---R---G---H  (main)", messages={"R": 'Revert "F"\n\nThis reverts commit {F}.'})
    assert [("F", ("F",)), ("G", ("G",))] == rungs(it, "P", "F", "G")


def test_target_of_a_goal():
    """The target of some fixes is the smallest for these, and names the others that come along."""
    it = drawn(POOL)
    wanted = {name: it.same(name) for name in "RST"}
    found = ladder(it, "P").target(["S"], wanted)
    assert ("S", ("R", "S")) == (it.name(found.to), found.fixes)


def test_many_tags():
    """Hundreds of tags on one chain are walked together, whatever is asked."""
    names = [f"c{at}" for at in range(3000)]
    tags = {f"refs/tags/v{at}": f"c{at}" for at in range(0, 3000, 10)}
    it = pictured(
        {**row(*names), "own": ("c5",)}, refs={**tags, "refs/heads/main": names[-1], "refs/heads/release/1": "own"}
    )
    parents = Counting({one: it.graph.parents(one) for one in it.graph})
    graph = Graph(parents)
    lines = published_lines(it.refs, graph, ["release/1"])
    assert 302 == len(lines)
    steps = Ladder(named("c5"), lines, graph, it.commits)
    fixes = [it.same(f"c{at}") for at in (700, 1500, 2200)]
    parents.asked = 0
    assert named("c1500") == steps.minimal(fixes[:2]).to
    assert parents.asked < 10 * len(names)
    assert ["c700", "c1500", "c2200"] == [
        it.name(rung.to) for rung in steps.rungs(dict(zip("abc", fixes, strict=True)))
    ]
    assert parents.asked < 40 * len(names)


# --- against the definition, word by word ---------------------------------------------------------------------------


@st.composite
def histories(draw):
    """Return a small history with several lines, a pin, and fixes with equivalents, parts and reverts."""
    count = draw(st.integers(2, 12))
    names = [f"c{at}" for at in range(count)]
    parents = {
        name: tuple(draw(st.lists(st.sampled_from(names[:at]), max_size=2, unique=True))) if at else ()
        for at, name in enumerate(names)
    }
    tips = draw(st.lists(st.sampled_from(names), min_size=1, max_size=4))
    days = draw(st.fixed_dictionaries(dict.fromkeys(names, st.integers(1, 3))))
    it = pictured(parents, refs={f"refs/heads/{at}.x": tip for at, tip in enumerate(tips)}, committed=days)
    fixes = [draw(changes(it, names)) for _ in range(draw(st.integers(1, 3)))]
    return it, tips, draw(st.sampled_from(names)), fixes


@st.composite
def changes(draw, it, names):
    """Return made-up equivalents of a change."""
    some = st.frozensets(st.sampled_from(names).map(named), min_size=1, max_size=2)
    landing = named(draw(st.sampled_from(names)))
    ways = [(draw(some) | {landing},), *draw(st.lists(st.tuples(some, some), max_size=1))]
    level = frozenset().union(*(part for way in ways for part in way))
    reverts = []
    for _ in range(draw(st.integers(0, 2))):
        by = named(draw(st.sampled_from(names)))
        of = (level & it.graph.ancestors(by)) - {by}
        reverts += [Revert(by=by, of=of)] if of else []
        level = frozenset({by})
    reverts.sort(key=lambda revert: -it.graph.generations[revert.by])
    return Equivalents(change=landing, ways=tuple(ways), reverts=tuple(reverts))


def stands(same, history):
    """Answer whether a history has a change that no standing revert takes back: the definition, by recursion."""

    def is_gone(commit):
        return any(revert.by in history and commit in revert.of and not is_gone(revert.by) for revert in same.reverts)

    return any(all(any(c in history and not is_gone(c) for c in part) for part in way) for way in same.ways)


def by_definition(it, tips, pin, fixes):
    """Return the smallest bump among the lines with these tips, as cases/fixes words it."""
    below = it.graph.ancestors(named(pin))
    candidates = {commit for tip in tips for commit in it.graph.first_parent_line(named(tip))}
    histories = {commit: it.graph.ancestors(commit) for commit in candidates}
    fit = [
        commit
        for commit, history in histories.items()
        if named(pin) in history and all(stands(same, history) for same in fixes)
    ]

    def order(commit):
        return len(histories[commit] - below), it.commits[commit].committed_at, commit

    best = min(fit, key=order, default=None)
    return None if best is None else (len(histories[best] - below), best)


def priced(rung):
    return None if rung is None else (rung.commits, rung.to)


@given(histories())
def test_against_the_definition(made):
    """On random graphs the targets are what the definition says: own line first, else any; beside it; and of all."""
    it, tips, pin, fixes = made
    lines = [Line(name=f"refs/heads/{at}.x", tip=named(tip)) for at, tip in enumerate(tips)]
    steps = Ladder(named(pin), lines, it.graph, it.commits)
    own = by_definition(it, tips[:1], pin, fixes)
    beside = by_definition(it, tips[1:], pin, fixes)
    assert beside == priced(steps.elsewhere(fixes))
    assert (own or beside) == priced(steps.minimal(fixes))


@given(histories())
def test_rungs_against_the_definition(made):
    """Every rung is the smallest target of its own fixes, names exactly those that stand at it, and none is missed."""
    it, tips, pin, fixes = made
    lines = [Line(name=f"refs/heads/{at}.x", tip=named(tip)) for at, tip in enumerate(tips)]
    wanted = {f"f{at}": same for at, same in enumerate(fixes)}
    steps = Ladder(named(pin), lines, it.graph, it.commits)
    found = steps.rungs(wanted)
    for rung in found:
        history = it.graph.ancestors(rung.to)
        assert [name for name, same in wanted.items() if stands(same, history)] == list(rung.fixes)
        assert named(pin) in history
    single = {name for name, same in wanted.items() if steps.minimal([same])}
    assert single == {name for rung in found for name in rung.fixes}
    everything = steps.minimal(fixes)
    if everything is not None:
        assert priced(everything) in [priced(rung) for rung in found]
    assert sorted(rung.commits for rung in found) == [rung.commits for rung in found]
