"""The made-up twin of the history that this tool is for: two fixes, one version, a CUDA image and a ROCm image.

Upstream `lumen/vram-shelf` puts GPU memory on a shelf and takes it back. Both images pin P. After P it merged, in this
order: #41 (a fix, as its title says), #42 (a fix whose title does not say so, from a branch that does not either),
#51 and #52 (tooling only, from branches called fix/…), #60 (a feature).
"""

import pytest

from tests.stories.world import (
    findings_of,
    kinds,
    manifest,
    pin_of,
    reach,
    the,
    the_drift,
    told,
)

PICTURE = r"""
          S---T           V       W       G---H
         /     \         / \     / \     /     \
A---B---P-------M-------N---C---K---D---L-------O      (main)
         \             /
          U------------
"""
PINNED = "A---B---P   (main)"

SHELF = """\
#include "shelf.h"

int shelf_put(Shelf *shelf, void *page) {
    int slot = next_slot(shelf);
    shelf->pages[slot] = page;
    return slot;
}

int shelf_free(Shelf *shelf, int slot) {
    Page *page = shelf->pages[slot];
    unmap_page(page);
    drop_handle(page->handle);
    shelf->pages[slot] = NULL;
    return 0;
}

int shelf_count(const Shelf *shelf) {
    return shelf->next;
}
"""
SHELF_ROCM = """\
#include "shelf_rocm.h"

int hip_shelf_free(HipShelf *shelf, int slot) {
    HipPage *page = shelf->pages[slot];
    hip_unmap(page);
    hip_drop_handle(page->handle);
    return 0;
}
"""
COUNTED = SHELF.replace("    return shelf->next;\n", "    return shelf->next - shelf->holes;\n")
SHELVED = COUNTED.replace(
    "    unmap_page(page);\n    drop_handle(page->handle);\n",
    "    if (page->state == MAPPED) {\n        unmap_page(page);\n        drop_handle(page->handle);\n    }\n",
)
SHELVED_ROCM = SHELF_ROCM.replace(
    "    hip_unmap(page);\n    hip_drop_handle(page->handle);\n",
    "    if (page->state == MAPPED) {\n        hip_unmap(page);\n        hip_drop_handle(page->handle);\n    }\n",
)
ONLY_FREE = SHELF.replace(
    "    unmap_page(page);\n    drop_handle(page->handle);\n",
    "    if (page->state == MAPPED) {\n        unmap_page(page);\n        drop_handle(page->handle);\n    }\n",
)
PYPROJECT = '[project]\nname = "vram-shelf"\nversion = "0.2.1.post3"\n'

FILES = {
    "A": {"csrc/shelf.cpp": SHELF, "csrc/shelf_rocm.cpp": SHELF_ROCM, "pyproject.toml": PYPROJECT},
    "B": {"README.md": "Put memory on a shelf\n"},
    "P": {"docs/usage.md": "shelf_put(), shelf_free()\n"},
    "S": {"csrc/shelf.cpp": COUNTED},
    "T": {"test/test_count.py": "def test_holes_do_not_count(): ...\n"},
    "U": {"csrc/shelf.cpp": ONLY_FREE, "csrc/shelf_rocm.cpp": SHELVED_ROCM},
    "N": {"csrc/shelf.cpp": SHELVED, "csrc/shelf_rocm.cpp": SHELVED_ROCM},
    "V": {"scripts/lint.sh": "ruff check .\n", ".github/workflows/ci.yml": "on: push\n"},
    "W": {".github/workflows/release.yml": "on: release\n"},
    "G": {"csrc/shelf_stats.cpp": "int shelf_stats(Shelf *shelf) {\n    return shelf_count(shelf);\n}\n"},
    "H": {"csrc/shelf.cpp": SHELVED.replace("return slot;", "note_put(shelf);\n    return slot;")},
}


def merge(number, branch, title):
    """Return the message of a merge commit as a forge writes it."""
    return f"Merge pull request #{number} from mira/{branch}\n\n{title}\n"


MESSAGES = {
    "P": "Describe how to use it",
    "S": "Fix the count of pages when slots are empty",
    "T": "Test the count with holes",
    "M": merge(41, "fix-count", "Fix the count of pages when slots are empty"),
    "U": (
        "Handle pages that are on the shelf in shelf_free\n\n"
        "Putting a page on the shelf has unmapped it already. Freeing it then drops its handle twice and the\n"
        "driver aborts.\n"
    ),
    "N": merge(42, "free-on-shelf", "Handle pages that are on the shelf in shelf_free"),
    "V": "fix: lint in CI",
    "C": merge(51, "fix/lint", "fix: lint in CI"),
    "W": "Fix the release workflow",
    "D": merge(52, "fix/release-workflow", "Fix the release workflow"),
    "G": "Add shelf_stats",
    "H": "Count puts",
    "O": merge(60, "stats", "Add statistics"),
}
STORY = {"files": FILES, "messages": MESSAGES}
NAME = "lumen/vram-shelf"


@pytest.fixture
def shelf(world):
    """Offer a world in which both images pin P, and upstream has moved on to the end of the picture."""
    oids = world.upstream(NAME).draw(PICTURE, **STORY)
    world.pin(NAME, cuda=oids["P"], rocm=oids["P"])
    return world


def numbers(found, names):
    """Return the pull requests behind fix ids."""
    fixes = {fix.id: fix.change.pull_request for fix in found.fixes}
    return sorted(fixes[name] for name in names)


def made_for(found, variant):
    """Return the bump that is proposed for a variant of the shelf."""
    pin = pin_of(found, variant, NAME)
    [made] = [made for made in found.suggestions if made.pin == pin.id]
    return made


def places(found, variant, number):
    """Return the places in the pinned tree that a pull request repairs for a variant."""
    fixes = {fix.id: fix.change.pull_request for fix in found.fixes}
    [said] = [said for said in made_for(found, variant).verdicts if fixes[said.fix] == number]
    assert "yes" == said.answer
    return said.where


def test_both_pins_are_where_they_are(shelf):
    """Found in their files, on their lines, and reachable from the default branch."""
    found = shelf.look()
    oids = shelf.upstream(NAME).oids
    assert [(manifest("cuda"), 2, "cuda"), (manifest("rocm"), 2, "rocm")] == sorted(
        (pin.file, pin.line, pin.variant) for pin in found.pins
    )
    assert {oids["P"]} == set(found.commits.values())
    assert "default" == reach(found, "cuda", NAME).cls == reach(found, "rocm", NAME).cls
    assert "same" == the_drift(found).relation


def test_two_fixes_concern_both_and_nothing_else_does(shelf):
    """#41 and #42, for both variants; tooling and the feature raise nothing, whatever their branches are called."""
    found = shelf.look()
    oids = shelf.upstream(NAME).oids
    assert [41, 42] == sorted(fix.change.pull_request for fix in found.fixes)
    assert {41: oids["M"], 42: oids["N"]} == {fix.change.pull_request: fix.change.landing for fix in found.fixes}
    assert ["fix-available"] * 4 == kinds(found)
    for variant in ("cuda", "rocm"):
        assert [41, 42] == numbers(found, made_for(found, variant).target.fixes)


def test_the_smallest_commit_for_both(shelf):
    """The merge of the second one: five commits, two landings, a fast-forward; the version stays what it was."""
    found = shelf.look()
    oids = shelf.upstream(NAME).oids
    for variant in ("cuda", "rocm"):
        made = made_for(found, variant)
        assert oids["N"] == made.target.to
        assert (5, 2) == (made.target.commits, made.target.landings)
        assert made.fast_forward
        assert ("0.2.1.post3", "0.2.1.post3") == (made.version_from, made.version_to)
        assert () == made.contract
        assert () == made.cautions


def test_the_ladder_has_a_rung_for_the_first_one_alone(shelf):
    """#41 alone is three commits away; #42 cannot be had without it."""
    found = shelf.look()
    oids = shelf.upstream(NAME).oids
    rungs = made_for(found, "cuda").ladder
    assert [(oids["M"], 3, [41]), (oids["N"], 5, [41, 42])] == [
        (rung.to, rung.commits, numbers(found, rung.fixes)) for rung in rungs
    ]
    targets = {concern.target for concern in findings_of(found, "fix-available", "cuda")}
    assert {oids["M"], oids["N"]} == targets


def test_lines_are_those_of_the_pinned_tree_and_of_the_variant(shelf):
    """#42 repairs the shared file for both, and the ROCm file for ROCm alone."""
    found = shelf.look()
    shared = {"csrc/shelf.cpp:11", "csrc/shelf.cpp:12"}
    rocm = {"csrc/shelf_rocm.cpp:5", "csrc/shelf_rocm.cpp:6"}
    assert shared == set(places(found, "cuda", 42))
    assert shared | rocm == set(places(found, "rocm", 42))
    assert ("csrc/shelf.cpp:18",) == places(found, "cuda", 41) == places(found, "rocm", 41)


def test_findings_are_worth_failing_for(shelf):
    """Both fixes are at least likely and affect the pin, so they are at least medium, with the bump as advice."""
    found = shelf.look()
    oids = shelf.upstream(NAME).oids
    for concern in findings_of(found, "fix-available"):
        assert concern.severity in {"medium", "high"}
        assert concern.target in concern.advice
    [second] = [it for it in findings_of(found, "fix-available", "cuda") if it.target == oids["N"]]
    assert f"Bump to {oids['N']} (5 commits, 2 landings)." == second.advice
    assert "#42" in second.headline
    assert "csrc/shelf.cpp:11" in second.detail[0]


def test_the_whole_story_of_the_two_images(world):
    """Baseline, the fixes land, one side is bumped, then the other: each thing is said once, and ends by itself."""
    upstream = world.upstream(NAME)
    oids = upstream.draw(PINNED, **STORY)
    world.pin(NAME, cuda=oids["P"], rocm=oids["P"])
    assert [] == told(world.look())

    oids = upstream.draw(PICTURE, **STORY)
    assert [("opened", "fix-available")] * 4 == told(world.look())

    world.pin(NAME, rocm=oids["N"])
    found = world.look()
    assert [("opened", "variant-drift"), ("resolved", "fix-available"), ("resolved", "fix-available")] == told(found)
    drift = the_drift(found)
    assert "behind" == drift.relation
    assert {"cuda": oids["P"], "rocm": oids["N"]} == drift.variants
    assert [41, 42] == numbers(found, drift.lacks["cuda"])
    assert () == drift.lacks["rocm"]
    assert {"cuda": oids["N"]} == drift.align
    concern = the(found, "variant-drift")
    assert "high" == concern.severity
    assert oids["N"] in concern.advice
    assert any("#42" in line for line in concern.detail)
    assert ["fix-available", "fix-available", "variant-drift"] == kinds(found)
    assert [] == told(world.look())

    world.pin(NAME, cuda=oids["N"])
    found = world.look()
    assert [("resolved", "fix-available"), ("resolved", "fix-available"), ("resolved", "variant-drift")] == told(found)
    assert "same" == the_drift(found).relation
    assert [] == kinds(found)
    assert () == found.suggestions
    assert [] == told(world.look())
    history = world.events()
    assert len(history) == len(set(history)), "nothing is said twice"


def test_variants_with_the_same_fixes_are_aligned(shelf):
    """ROCm is ahead by a feature: other commits, same fixes, no breach."""
    oids = shelf.upstream(NAME).oids
    shelf.pin(NAME, cuda=oids["N"], rocm=oids["O"])
    found = shelf.look()
    assert "aligned" == the_drift(found).relation
    assert [] == kinds(found)


def test_same_commit_policy_wants_equality(shelf):
    """`drift: same-commit` makes a finding of what `same-fixes` lets pass."""
    oids = shelf.upstream(NAME).oids
    shelf.pin(NAME, cuda=oids["N"], rocm=oids["O"])
    shelf.config = {"drift": "same-commit"}
    assert ["variant-drift"] == kinds(shelf.look())


def test_one_side_floats(shelf):
    """A commit here and a branch there: `floating-vs-pinned`, medium, beside the low note that it floats."""
    oids = shelf.upstream(NAME).oids
    shelf.pin(NAME, cuda=oids["O"], rocm="main")
    found = shelf.look()
    assert "floating-vs-pinned" == the_drift(found).relation
    assert "medium" == the(found, "variant-drift").severity
    assert ["pin-floating", "variant-drift"] == kinds(found)


def test_a_rocm_only_fix_concerns_rocm_alone(world):
    """A change to ROCm files only is nothing to a CUDA pin, and makes no drift by itself."""
    files = {"A": FILES["A"], "R": {"csrc/shelf_rocm.cpp": SHELVED_ROCM}}
    messages = {"R": "fix: handles are dropped twice on ROCm\n\nFixes #8\n"}
    oids = world.upstream(NAME).draw("A---R   (main)", files=files, messages=messages)
    world.pin(NAME, cuda=oids["A"], rocm=oids["A"])
    found = world.look()
    assert ["fix-available"] == kinds(found)
    assert 1 == len(findings_of(found, "fix-available", "rocm"))
    world.pin(NAME, rocm=oids["R"])
    found = world.look()
    assert [] == kinds(found)
    assert "aligned" == the_drift(found).relation


def test_configured_paths_decide_what_is_shipped(shelf):
    """With `paths`, a fix to other files concerns no pin."""
    shelf.config = {"upstreams": {f"https://git.example.org/{NAME}": {"paths": ["python/**"]}}}
    assert [] == kinds(shelf.look())


def test_configured_variants_decide_whom_a_file_concerns(world):
    """With `variants`, a file whose name says ROCm may be everybody's."""
    messages = {"R": "fix: handles are dropped twice on ROCm\n\nFixes #8\n"}
    files = {"A": FILES["A"], "R": {"csrc/shelf_rocm.cpp": SHELVED_ROCM}}
    oids = world.upstream(NAME).draw("A---R   (main)", files=files, messages=messages)
    world.pin(NAME, cuda=oids["A"], rocm=oids["A"])
    ours = {f"https://git.example.org/{NAME}": {"variants": {"any": ["csrc/shelf_rocm.cpp"]}}}
    world.config = {"upstreams": ours}
    found = world.look()
    assert 1 == len(findings_of(found, "fix-available", "cuda")) == len(findings_of(found, "fix-available", "rocm"))


def test_a_fork_as_declared_relative(world):
    """CUDA from the original, ROCm from a fork: one dependency, `other-repository`, and no alarm by default."""
    files = {"files": FILES, "messages": MESSAGES}
    oids = world.upstream("lumen/vram-shelf").draw(PINNED, **files)
    fork = world.upstream("amber/vram-shelf").draw("A---B---P---R   (main)", **files)
    world.pin("lumen/vram-shelf", cuda=oids["P"])
    world.pin("amber/vram-shelf", rocm=fork["R"])
    assert () == world.look().drift
    world.config = {"relatives": [[f"https://git.example.org/{it}/vram-shelf" for it in ("lumen", "amber")]]}
    found = world.look()
    assert "other-repository" == the_drift(found).relation
    assert [] == kinds(found)


def test_offered_bump_of_a_single_variant(shelf):
    """Where one variant is bumped already, the other is still offered the smallest commit, not the other's."""
    oids = shelf.upstream(NAME).oids
    shelf.pin(NAME, rocm=oids["O"])
    found = shelf.look()
    assert oids["N"] == made_for(found, "cuda").target.to
    assert {"cuda": oids["N"]} == the_drift(found).align
    assert [made.pin for made in found.suggestions] == [pin_of(found, "cuda", NAME).id]
