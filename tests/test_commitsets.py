"""A set that is worked out on demand is a set like any other, alone and mixed."""

from itertools import product

import pytest

from tests.judge.picture import Counted, Counting, named, row
from watcher.commitsets import CommitSet
from watcher.graph import Graph
from watcher.model import Oid
from watcher.numbered import Listed

#      X---Y---Z
#     /     \
# A---B---C---D---E        R (a root of its own)
PARENTS = {
    named(name): tuple(map(named, parents))
    for name, parents in {
        "A": (),
        "B": ("A",),
        "X": ("B",),
        "C": ("B",),
        "Y": ("X",),
        "D": ("C", "Y"),
        "Z": ("Y",),
        "E": ("D",),
        "R": (),
    }.items()
}
GRAPH = Graph(PARENTS)
STRANGER = Oid("f" * 40)


def of(*names: str) -> frozenset[Oid]:
    return frozenset(map(named, names))


SETS = {
    "ancestors": (lambda: GRAPH.ancestors(named("D")), of("A", "B", "C", "D", "X", "Y")),
    "walked": (lambda: GRAPH.ancestors(named("D"), without=of("X")), of("A", "B", "C", "D", "Y")),
    "reached": (lambda: GRAPH.reached([named("D"), named("R")]), of("A", "B", "C", "D", "X", "Y", "R")),
    "descendants": (lambda: GRAPH.descendants(named("X")), of("X", "Y", "D", "Z", "E")),
    "between": (lambda: GRAPH.between(named("C"), named("E")), of("E", "D", "Y", "X")),
    "nothing": (lambda: GRAPH.ancestors(STRANGER), of()),
    "plain": (lambda: of("A", "D", "Z") | {STRANGER}, of("A", "D", "Z") | {STRANGER}),
    "elsewhere": (lambda: Graph(PARENTS).ancestors(named("C")), of("A", "B", "C")),
}


@pytest.mark.parametrize(("one", "other"), list(product(SETS, repeat=2)))
def test_alone_and_mixed(one, other):
    """What two sets give together is what plain sets give, whatever was asked before."""
    (make, same), (make_other, same_other) = SETS[one], SETS[other]
    assert same & same_other == make() & make_other()
    assert same | same_other == make() | make_other()
    assert same - same_other == make() - make_other()
    assert (same <= same_other) == (make() <= make_other())
    assert (same == same_other) == (make() == make_other())
    assert same.isdisjoint(same_other) == make().isdisjoint(make_other())
    assert len(same) == len(make())
    assert same == set(make())
    both = make()
    assert [commit in same for commit in PARENTS] == [commit in both for commit in PARENTS]
    assert same == both


def test_sets_of_one_graph_stay_numbers():
    """What two of them give together makes no ids before somebody looks at these."""
    one, other = GRAPH.ancestors(named("E")), GRAPH.descendants(named("X"))
    assert all(isinstance(found, CommitSet) for found in (one & other, one | other, one - other, one - of("A")))


def test_a_question_goes_no_deeper_than_its_commit():
    """Who asks about the newest commits pays for these; who asks again pays for what is new."""
    names = [f"c{at}" for at in range(1000)]
    table = Counting({named(name): tuple(map(named, above)) for name, above in row(*names).items()})
    graph = Graph(table)
    assert 1000 == graph.generations[named("c999")]
    table.asked = 0
    history = graph.ancestors(named("c999"))
    assert named("c990") in history
    assert 10 == table.asked
    assert named("c995") in history
    assert 10 == table.asked
    assert named("c0") in history
    assert 1000 == table.asked
    table.asked = 0
    assert 5 == len(graph.between(named("c900"), named("c905")))
    assert table.asked < 20
    table.asked = 0
    later = graph.descendants(named("c990"))
    assert [True, True, False] == [named(name) in later for name in ("c999", "c995", "c3")]
    assert table.asked < 25


def test_many_questions_do_not_look_at_what_waits_each_time():
    """Each a little deeper than the one before, on a history with many open branches."""
    line = [f"c{at}" for at in range(400)]
    sides = {f"s{at}": ("c0",) for at in range(400)}
    parents = row(*line) | sides | {f"m{at}": (f"m{at - 1}" if at else "c399", f"s{at}") for at in range(400)}
    table = Listed({named(name): tuple(map(named, above)) for name, above in parents.items()})
    table.levels = Counted("i", table.levels)
    history = Graph(table).ancestors(named("m399"))
    assert all(named(name) in history for name in reversed(line))
    assert table.levels.asked < 10 * len(parents)
