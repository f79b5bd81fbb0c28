"""Do the variants of one dependency still carry the same fixes?"""

import pytest

from tests.judge.picture import UPSTREAM, drawn, named, pin
from watcher.judge.drift import Stand, drift, groups, lacking
from watcher.model import Answer, RefKind, Relation, Verdict

FORK = "https://example.org/fork/project"
HISTORY = "A---B---F---C  (main)\n     \\\n      S---T"


def stand(ref=None, variant="cuda", *, has=(), affected=(), kind=RefKind.SHA, upstream=UPSTREAM, at=None):
    """Return where a variant stands: the fixes that it has, and those that it is affected by."""
    mine = pin(ref, kind=kind, variant=variant, upstream=upstream)
    verdicts = {
        **{fix: Verdict(fix=fix, answer=Answer.NO, where=(), reason="", contained_as=named(fix)) for fix in has},
        **{fix: Verdict(fix=fix, answer=Answer.YES, where=(), reason="") for fix in affected},
    }
    commit = at or ref
    return Stand(pin=mine, commit=named(commit) if commit else None, verdicts=verdicts)


def judge(cuda, rocm, *, policy="same-fixes", graph=True, align=None):
    """Return how two variants stand."""
    stands = {"cuda": cuda, "rocm": rocm}
    return drift("project", stands, drawn(HISTORY).graph if graph else None, align or {}, policy)


FLOATING = {"kind": RefKind.BRANCH, "at": "C"}


@pytest.mark.parametrize(
    ("cuda", "rocm", "relation", "is_breach", "is_other"),
    [
        (stand("B"), stand("B", "rocm"), Relation.SAME, False, False),
        (stand("v1", kind=RefKind.TAG, at="B"), stand("B", "rocm"), Relation.SAME, False, False),
        (stand("main", **FLOATING), stand("main", "rocm", **FLOATING), Relation.SAME, False, False),
        (stand("B"), stand("C", "rocm"), Relation.ALIGNED, False, True),
        (stand("B", affected="F"), stand("C", "rocm", has="F"), Relation.BEHIND, True, True),
        (stand("C", has="F"), stand("B", "rocm", affected="F"), Relation.BEHIND, True, True),
        (stand("T", affected="F"), stand("C", "rocm", has="F"), Relation.DIVERGED, True, True),
        (stand("main", **FLOATING), stand("C", "rocm"), Relation.FLOATING_VS_PINNED, True, True),
        (stand("B"), stand(None, "rocm", kind=RefKind.DEFAULT_BRANCH), Relation.FLOATING_VS_PINNED, True, True),
        (stand("B"), stand("B", "rocm", upstream=FORK), Relation.OTHER_REPOSITORY, False, True),
        (stand("B"), stand("main", "rocm", upstream=FORK, **FLOATING), Relation.OTHER_REPOSITORY, True, True),
        (stand("B"), Stand(pin=pin("C", variant="rocm"), commit=None), Relation.UNKNOWN, False, False),
        (stand("main", **FLOATING), stand("dev", "rocm", kind=RefKind.BRANCH, at="T"), Relation.DIVERGED, False, True),
        (stand("main", **FLOATING), stand("dev", "rocm", kind=RefKind.BRANCH, at="B"), Relation.BEHIND, False, True),
    ],
)
def test_relations(cuda, rocm, relation, is_breach, is_other):
    """Each relation, and whether it breaks `same-fixes` and `same-commit`."""
    assert (relation, is_breach) == (judge(cuda, rocm).relation, judge(cuda, rocm).is_breach)
    assert is_other is judge(cuda, rocm, policy="same-commit").is_breach


def test_unobserved():
    """Of an upstream that was not observed only what the files say is known."""
    same = Stand(pin=pin("B"), commit=None), Stand(pin=pin("B", variant="rocm"), commit=None)
    assert Relation.SAME is judge(*same, graph=False).relation
    unlike = Stand(pin=pin("B"), commit=None), Stand(pin=pin("C", variant="rocm"), commit=None)
    assert Relation.UNKNOWN is judge(*unlike, graph=False).relation
    floats = Stand(pin=pin("B"), commit=None), Stand(pin=pin("m", kind=RefKind.BRANCH, variant="rocm"), commit=None)
    assert Relation.FLOATING_VS_PINNED is judge(*floats, graph=False).relation


def test_lacks():
    """A variant lacks what another one has and it is affected by; what it is unsure of does not count."""
    unsure = Verdict(fix="U", answer=Answer.UNSURE, where=(), reason="")
    cuda = stand("B", affected="FG")
    cuda = Stand(pin=cuda.pin, commit=cuda.commit, verdicts={**cuda.verdicts, "U": unsure})
    rocm = stand("C", "rocm", has="FU")
    assert {"cuda": ("F",), "rocm": ()} == lacking({"cuda": cuda, "rocm": rocm})


def test_both_lack():
    """Each side may have what the other lacks."""
    cuda, rocm = stand("T", has="F", affected="G"), stand("C", "rocm", has="G", affected="F")
    assert {"cuda": ("G",), "rocm": ("F",)} == judge(cuda, rocm).lacks


def test_align():
    """The smallest commit that levels is told for a variant that lacks something, and for no other."""
    cuda, rocm = stand("B", affected="F"), stand("C", "rocm", has="F")
    found = judge(cuda, rocm, align={"cuda": named("F"), "rocm": named("A")})
    assert {"cuda": named("F")} == found.align


def test_what_is_told():
    """The variants are told with their commits, or with what is written where no commit is known."""
    found = judge(stand("B"), stand("dev", "rocm", kind=RefKind.BRANCH))
    assert {"cuda": named("B"), "rocm": named("dev")} == found.variants
    silent = Stand(pin=pin(None, kind=RefKind.DEFAULT_BRANCH, variant="rocm"), commit=None)
    assert "default-branch" == judge(stand("B"), silent).variants["rocm"]
    assert ("ours:docker/Dockerfile:project:cuda", "ours:docker/Dockerfile:project:rocm") == found.pins


def named_groups(*pins, relatives=()):
    """Return name → variant → the line of the pin."""
    found = groups(pins, relatives)
    return {name: {variant: mine.line for variant, mine in variants.items()} for name, variants in found.items()}


def test_groups():
    """The pins of one upstream are one dependency, those for any variant among them; one variant alone is none."""
    assert {"project": {"cuda": 1, "rocm": 2, "any": 3}} == named_groups(
        pin("B", line=1),
        pin("B", variant="rocm", line=2),
        pin("B", variant="any", line=3),
        pin("B", name="lonely", upstream="https://example.org/owner/lonely"),
        pin(None, upstream=None, variant="rocm", kind=RefKind.UNRESOLVED),
    )


def test_the_first_pin_speaks():
    """Of several pins for one variant the first by file and line speaks."""
    assert {"project": {"cuda": 3, "rocm": 2}} == named_groups(
        pin("B", line=9), pin("B", line=3), pin("B", variant="rocm", line=2), pin("B", file="z", line=1)
    )


def test_families_that_share_an_address_are_one():
    """A fork of a fork is related to the origin, in whatever order the groups are declared."""
    other = "https://example.org/other/fork"
    pins = pin("B", line=1), pin("B", variant="rocm", upstream=other, line=2)
    groups_of = ([UPSTREAM, FORK], [FORK, other]), ([FORK, other], [UPSTREAM, FORK])
    assert [{"project": {"cuda": 1, "rocm": 2}}] * 2 == [named_groups(*pins, relatives=it) for it in groups_of]


def test_relatives():
    """Declared relatives are one dependency though their addresses differ; otherwise they are two."""
    pins = pin("B", line=1), pin("B", variant="rocm", upstream=FORK, line=2)
    assert {} == named_groups(*pins)
    assert {"project": {"cuda": 1, "rocm": 2}} == named_groups(*pins, relatives=[[UPSTREAM, FORK]])


def test_two_dependencies_of_one_name():
    """Two dependencies of one name are told apart by their owners."""
    pins = [pin("B", variant=variant, upstream=address) for variant in ("cuda", "rocm") for address in (UPSTREAM, FORK)]
    assert {"owner/project", "fork/project"} == set(named_groups(*pins))
