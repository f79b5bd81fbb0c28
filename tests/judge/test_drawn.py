"""Which commits are drawn, and how many lie between."""

from dataclasses import replace

import pytest

from tests.judge.picture import NOW, UPSTREAM, drawn, named, pictured, pin, row
from watcher.drawing import At, Stop, StrandKind
from watcher.judge import drawn as subject
from watcher.judge.reachability import reachabilities
from watcher.judge.survey import survey
from watcher.model import Change, Evidence, Fix, Grade, Holding, Rung, Suggestion


def fix(landing, grade=Grade.LIKELY):
    """Return a fix that landed with a commit, by its drawn name."""
    change = Change(landing=named(landing), before=None, commits=(named(landing),), title=f"Fix {landing}")
    evidence = (Evidence(signal="subject", detail="says so", weight=1.0),)
    return Fix(id=landing, upstream=UPSTREAM, change=change, grade=grade, evidence=evidence, paths=("a.c",))


def bump(of, to, line="refs/heads/main"):
    """Return a suggestion with one step."""
    rung = Rung(to=named(to), fixes=(), commits=1, landings=1, line=line, committed_at=NOW)
    return Suggestion(pin=of.id, from_=named("A"), target=rung, ladder=(rung,), fast_forward=True, verdicts=())


def draw(it, *pins, fixes=(), suggestions=(), **changes):
    """Return the drawing of pins in a history."""
    seen = it.pinned(*pins, **changes)
    reach = reachabilities(pins, seen, ())
    alive = [each for each in pins if reach[each.id].cls.value not in {"orphaned", "served-only", "gone", "unknown"}]
    return subject.drawing(pins, seen, survey(seen, alive, ()), reach, fixes, suggestions)


def shown(it, strand):
    """Return the stops of a strand in short: name, states and commits below."""
    return [(it.name(stop.commit), stop.landings, stop.commits) for stop in strand.stops]


def test_the_followed_line_from_the_oldest_pin_to_the_tip():
    """What does not matter is folded, and counted by states and by commits: those of merged branches too."""
    it = drawn(
        r"""
        A---B---C---D---F---G---H  (main)
             \     /
              S---T
        """
    )
    mine = pin("B")
    drawing = draw(it, mine, fixes=[fix("F")], suggestions=[bump(mine, "F")])
    [main] = drawing.strands
    assert (StrandKind.FOLLOWED, "refs/heads/main", None) == (main.kind, main.name, main.base)
    assert [("B", 0, 0), ("F", 2, 5), ("H", 1, 2)] == shown(it, main)
    assert [(mine.id,), (), ()] == [stop.pins for stop in main.stops]
    assert [(), ("F",), ()] == [stop.fixes for stop in main.stops]
    assert [(), (), ("refs/heads/main",)] == [stop.refs for stop in main.stops]


def test_a_target_on_a_release_branch():
    """Its line is drawn from where it branched off."""
    it = drawn(
        """
                  R---F          (release/1.0)
                 /
        A---B---C---D---E        (main)
        """
    )
    mine = pin("B")
    drawing = draw(it, mine, fixes=[fix("F")], suggestions=[bump(mine, "F", "refs/heads/release/1.0")])
    main, release = drawing.strands
    assert ["B", "C", "E"] == [it.name(stop.commit) for stop in main.stops]
    assert (StrandKind.BRANCH, At(0, 1)) == (release.kind, release.base)
    assert [("F", 1, 2)] == shown(it, release)


def test_a_commit_that_a_rewound_branch_had():
    """The branch is drawn up to where it stood when it last held the commit, as far as that is kept."""
    it = drawn(
        """
              P---Q      (refs/gone)
             /
        A---B---C        (main)
        """
    )
    refs = replace(it.refs, refs=tuple(ref for ref in it.refs.refs if "gone" not in ref.name))
    mine = pin("P")
    held = Holding(ref="refs/heads/work", first_seen=NOW, last_seen=NOW, tip=named("Q"))
    drawing = draw(it, mine, advertisement=refs, holdings={named("P"): (held,)})
    main, lost = drawing.strands
    assert (StrandKind.LOST, "refs/heads/work") == (lost.kind, lost.name)
    assert [("P", 0, 1), ("Q", 0, 1)] == shown(it, lost)
    assert "B" == it.name(main.stops[lost.base.stop].commit)


def test_a_commit_that_nobody_ever_held_stands_by_itself():
    """Nobody knows which ref it was."""
    it = drawn(
        """
              P          (refs/gone)
             /
        A---B---C        (main)
        """
    )
    refs = replace(it.refs, refs=tuple(ref for ref in it.refs.refs if "gone" not in ref.name))
    _, lost = draw(it, pin("P"), advertisement=refs).strands
    assert (StrandKind.LOST, "", 1) == (lost.kind, lost.name, len(lost.stops))


def test_a_pin_whose_commit_is_not_there():
    """It is told, and not drawn."""
    it = drawn("A---B  (main)")
    mine, other = pin("A"), pin("unheard of", file="docker/Dockerfile.rocm")
    drawing = draw(it, mine, other)
    assert ((other.id,), 0) == (drawing.absent, drawing.more)


def test_of_too_many_the_surest():
    """A drawing has so many stops; pins and steps go before fixes, and what is left out is counted."""
    names = [f"c{number}" for number in range(200)]
    it = pictured(row(*names), refs={"refs/heads/main": "c199", "refs/tags/v1": "c100"})
    mine = pin("c0")
    possible = [fix(f"c{number}", Grade.POSSIBLE) for number in range(10, 90)]
    certain = [fix(f"c{number}", Grade.CERTAIN) for number in range(150, 160)]
    [main] = draw(it, mine, fixes=[*possible, *certain], suggestions=[bump(mine, "c160")]).strands
    drawn_names = [it.name(stop.commit) for stop in main.stops]
    assert 48 == len(drawn_names)
    assert {"c0", "c160", "c199", *(f"c{number}" for number in range(150, 160))} <= {*drawn_names}
    assert 90 == main.hidden + sum(len(stop.fixes) for stop in main.stops)
    assert 199 == sum(stop.landings + 1 for stop in main.stops) - 1
    assert 199 == sum(stop.commits for stop in main.stops)


def test_of_too_many_pins_the_rest_is_counted():
    """Ten thousand pins of as many commits are one drawing, of bounded size."""
    names = [f"c{number}" for number in range(300)]
    it = pictured(row(*names), refs={"refs/heads/main": "c299"})
    pins = [replace(pin(name), id=name) for name in names]
    drawing = draw(it, *pins)
    assert 300 == drawing.more + sum(len(stop.pins) for stop in drawing.strands[0].stops)
    assert 0 < drawing.more


@pytest.mark.parametrize("text", ["A  (main)", "A---B  (main)"])
def test_a_short_history(text):
    """One commit is a drawing too."""
    it = drawn(text)
    [main] = draw(it, pin("A")).strands
    assert isinstance(main.stops[0], Stop)
    assert "A" == it.name(main.stops[0].commit)


def test_a_pin_in_another_history_than_what_is_followed():
    """Both are drawn: a line has at least its tip, however far below the pin that is."""
    it = drawn(
        """
        A---B                    (main)
        P---Q---R---S---T---U    (other)
        """
    )
    main, other = draw(it, pin("T")).strands
    assert ["B"] == [it.name(stop.commit) for stop in main.stops]
    assert ["T", "U"] == [it.name(stop.commit) for stop in other.stops]
