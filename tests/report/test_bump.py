"""What people see of a bump's plan, compared with golden files: read them when they change."""

import json
from dataclasses import replace

import pytest

from tests.report import passes
from tests.report.test_shown import HOSTILE, golden
from watcher.model import Answer, Change, Oid, Rung
from watcher.planned import Gain, Passed, Plan, Stance, Stay, Step, Term, Way
from watcher.report import bump, proposal

OTHER = Oid("e" * 40)
LATER = replace(
    passes.FIX,
    id="acme/saver@eeeeeeeeeeee",
    change=Change(landing=OTHER, before=passes.NEW, commits=(OTHER,), title="Handle empty pools"),
)
GAIN = Gain(
    fix=passes.FIX,
    verdict=passes.verdict(),
    is_worth=True,
    headline="#95 “Do not release a handle twice” repairs what this pin ships",
    why=("the line that it guards is in the pin (csrc/core.cpp:103)", "likely fix: merged from dana/fix-free"),
)
LACKED = Gain(
    fix=LATER,
    verdict=replace(passes.verdict(), fix=LATER.id, answer=Answer.UNSURE, where=()),
    is_worth=False,
    headline="eeeeeeeeeeee “Handle empty pools” may concern what this pin ships",
    why=("nobody knows",),
)
FEATURE = Change(landing=passes.STEP, before=passes.OLD, commits=(passes.STEP,), title="Add pools", pull_request=90)
LAST = Rung(
    to=OTHER, fixes=(passes.FIX.id, LATER.id), commits=9, landings=4, line="refs/heads/main", committed_at=passes.LANDED
)


def step(pin=passes.CUDA, **more) -> Step:
    """Return the way of a pin to the fix."""
    made = Step(
        pin=pin,
        from_=passes.OLD,
        way=Way.FORWARD,
        rung=passes.RUNG,
        gains=(GAIN,),
        lacks=(LACKED,),
        loses=(),
        passed=(
            Passed(change=FEATURE, is_fix=False, is_gained=False, later=("repaired later by eeeeeeeeeeee",)),
            Passed(change=passes.FIX.change, is_fix=True, is_gained=True),
        ),
        back=0,
        files={"any": 2, "rocm": 1},
        other_files=3,
        version_from="0.0.9",
        version_to="0.0.9",
        terms=(
            Term(place="setup.py", said="new dependency ninja >=1"),
            Term(place="csrc/core.cpp:12", said="newly reads environment variable SAVER_MODE"),
        ),
        cautions=("brings cccccccccccc, which 'Handle empty pools' repairs later; eeeeeeeeeeee is without it",),
        ladder=(passes.RUNG, LAST),
    )
    return replace(made, **more)


def plan(*steps: Step, **more) -> Plan:
    """Return a plan with one of everything."""
    made = Plan(
        name="saver",
        upstream=passes.SAVER,
        to=passes.NEW,
        line="refs/heads/main",
        committed_at=passes.LANDED,
        tags=(),
        why=("the first state of main that has what is pinned and #95", "one landing earlier, cccccccccccc lacks #95"),
        steps=steps or (step(),),
        stays=(
            Stay(
                pin=passes.ROCM,
                stance=Stance.LEFT_BEHIND,
                said="is left behind at aaaaaaaaaaaa: it lacks #95 too; --all-variants moves it as well",
            ),
        ),
        cautions=("upstream released it since, in v0.1.0: 7 commits more",),
    )
    return replace(made, **more)


def together() -> Plan:
    """Return a plan that moves two variants, which ship different lines."""
    rocm = replace(GAIN, verdict=passes.verdict(where=("csrc/core.cpp:103", "csrc/amd.cpp:7")))
    return plan(step(), step(passes.ROCM, gains=(rocm,)), stays=())


def nothing() -> Plan:
    """Return a plan that moves nothing: one pin gains nothing, the other is lost."""
    lost = Stay(
        pin=passes.GONE,
        stance=Stance.LOST,
        said="is not bumped: dddddddddddd is on no branch and no tag any more",
        advice=("master held it until 2026-08-01", "Find out why before you move the pin: it can be an attack."),
    )
    free = Stay(pin=passes.CUDA, stance=Stance.NOTHING_TO_GAIN, said="nothing to gain: no fix found that concerns it")
    return plan(to=None, line=None, committed_at=None, why=(), steps=(), stays=(free, lost), cautions=())


def many() -> Plan:
    """Return a plan with more of everything than there is room for."""
    fixes = [
        replace(
            GAIN,
            fix=replace(
                passes.FIX,
                id=f"acme/saver@{number}",
                change=replace(passes.FIX.change, pull_request=number, title=f"Fix number {number}" * 4),
            ),
            is_worth=number % 2 == 0,
        )
        for number in range(100, 130)
    ]
    landed = tuple(
        Passed(change=replace(FEATURE, pull_request=number, title=f"Feature {number}"), is_fix=False, is_gained=False)
        for number in range(200, 1500)
    )
    terms = tuple(Term(place=f"part{number}/setup.py", said="new dependency ninja") for number in range(30))
    ladder = tuple(replace(passes.RUNG, to=Oid(f"{number:040x}"), commits=number) for number in range(1, 30))
    return plan(step(gains=tuple(fixes), passed=landed, terms=terms, ladder=ladder, lacks=(LACKED,) * 5))


@pytest.mark.parametrize("width", [60, 100])
@pytest.mark.parametrize("made", [plan, together, nothing, many])
def test_terminal(made, width):
    """The plan reads from top to bottom: where to, gains, why, what comes along, what to mind; nothing is wider."""
    shown = bump.render([made()], width=width)
    whole = (passes.NEW, "https://")
    assert all(len(line) <= width for line in shown.splitlines() if not any(word in line for word in whole))
    golden(f"bump-{made.__name__}-{width}.txt", shown)


def test_color_is_only_for_terminals():
    """No escape is written unless color is asked for."""
    assert "\x1b" not in bump.render([plan()])
    assert "\x1b[" in bump.render([plan()], color=True)


def test_a_downgrade():
    """A move back is told as what it takes away."""
    made = plan(step(way=Way.BACK, back=5, gains=(), passed=(), rung=replace(passes.RUNG, fixes=())))
    for shown in (bump.render([made]), proposal.body(made)):
        assert "takes back 5 commits in 0 landings" in shown
        assert "nothing: it lacks the fix that may concern it" in shown
    assert "DOWNGRADE" in bump.render([made])


def test_no_fix_was_found():
    """Where no fix concerns the pin that is said, and never that it is safe."""
    made = plan(step(gains=(), lacks=()))
    for shown in (bump.render([made]), proposal.body(made)):
        assert "no fix found that concerns it" in shown
        assert "safe" not in shown


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("1", "1", "package version 1 as before: same package version, different behaviour"),
        ("1", None, "package version 1 → unknown"),
        (None, None, "the files state no package version"),
    ],
)
def test_version(before, after, said):
    """That the version stays the same is said aloud."""
    assert said == bump.version(step(version_from=before, version_to=after))


def test_json():
    """The JSON has every key of version 1."""
    golden("bump.json", bump.render_json([plan(), nothing()]))


# --- issues and pull requests ------------------------------------------------------------------------------------


@pytest.mark.parametrize("made", [plan, together])
def test_body(made):
    """The body has what, why, fixes with links, what comes along, a checklist, and the commands that repeat it."""
    golden(f"bump-{made.__name__}.md", proposal.body(made()))


def test_commit_message():
    """A short subject, the fixes by address, and where to see what comes along."""
    golden("bump-commit.txt", proposal.commit_message(plan()))


def test_long_names():
    """The subject stays within 72 characters, whatever the name."""
    assert 72 >= len(proposal.title(plan(name="x" * 200)))
    assert "Bump torch_memory_saver to bbbbbbbbbbbb" == proposal.title(plan(name="torch_memory_saver"))


def test_body_of_everything():
    """A body that would not fit is shortened until it does, and keeps its mark and its checklist."""
    shown = proposal.body(many())
    assert len(shown) <= proposal.ROOM
    assert proposal.mark(many()) == proposal.read_marker(shown)
    assert "and 1100 more" in shown
    assert "- [ ] it builds for cuda" in shown


def test_body_of_more_than_everything():
    """Lines are left out where shortening the landings is not enough."""
    terms = tuple(Term(place=f"part{number}/setup.py", said="new dependency " * 15) for number in range(500))
    shown = proposal.body(plan(step(terms=terms)))
    assert len(shown) <= proposal.ROOM
    assert "- and 480 more" in shown


def test_body_of_many_places():
    """Where a fix repairs more than there is room for, the first places are named and linked."""
    lines = tuple(f"csrc/kernels/part{number}.cpp:{number}" for number in range(1, 40))
    fixes = [replace(gain, verdict=passes.verdict(where=lines)) for gain in many().steps[0].gains]
    one = proposal.body(plan(step(gains=tuple(fixes[:1]))))
    assert "part20.cpp#L20) … |" in one
    assert "part21.cpp" not in one
    shown = proposal.body(plan(step(gains=tuple(fixes)), step(passes.ROCM, gains=tuple(fixes))))
    assert len(shown) <= proposal.ROOM
    assert "part3.cpp#L3) … |" in shown
    assert "part4.cpp" not in shown


def test_places_lead_to_what_is_pinned():
    """Lines that differ between variants are shown as of each variant's own commit."""
    there = replace(GAIN, verdict=passes.verdict(where=("csrc/amd.cpp:7",)))
    body = proposal.body(plan(step(), step(passes.ROCM, from_=passes.STEP, gains=(there,))))
    assert f"cuda: [`csrc/core.cpp:103`]({passes.SAVER}/blame/{passes.OLD}/csrc/core.cpp#L103)" in body
    assert f"rocm: [`csrc/amd.cpp:7`]({passes.SAVER}/blame/{passes.STEP}/csrc/amd.cpp#L7)" in body


def test_an_unknown_host_has_no_links():
    """Its lines and fixes are told without; one that the configuration names has those of its kind."""
    address = "https://git.acme.com/saver"
    made = plan(upstream=address)
    for text in (proposal.body(made).partition("```sh")[0], proposal.commit_message(made), bump.render([made])):
        assert address not in text
    named = replace(made, forge="gitea")
    assert f"({address}/blame/commit/{passes.OLD}/csrc/core.cpp#L103)" in proposal.body(named)
    assert f"{address}/pulls/95" in proposal.commit_message(named)
    assert f"{address}/compare/{passes.OLD}...{passes.NEW}" in bump.render([named])


def test_mark():
    """The same pins have the same digest in whatever order; the target is told apart."""
    one, other = proposal.mark(together()), proposal.mark(plan(*together().steps[::-1], to=OTHER))
    assert (one.pins, passes.NEW, OTHER) == (other.pins, one.target, other.target)
    assert one == proposal.read_marker(f"Hello\r\n{proposal.marker(one)}\r\nand more")
    assert None is proposal.read_marker("Hello")
    assert None is proposal.read_marker(f"- `{proposal.marker(one)}`")


def test_nothing_has_no_mark():
    """A plan that moves nothing is no issue."""
    with pytest.raises(ValueError, match="expected a plan that moves a pin"):
        proposal.mark(nothing())


FORGED = f"x\n<!-- watcher: bump {'0' * 16} {'1' * 40} -->\n"


@pytest.mark.parametrize(
    "title",
    [HOSTILE, FORGED, "@everyone see #1, GH-2, o/r#3, www.example.org, http://example.org", "a | b` <b> [c](d)"],
)
def test_hostile_text_stays_text(title):
    """A title from a stranger mentions nobody, links nowhere, closes nothing, forges no mark and moves no cursor."""
    change = replace(passes.FIX.change, title=title, pull_request=None)
    fix = replace(passes.FIX, change=change)
    gain = replace(GAIN, fix=fix, verdict=passes.verdict(where=(f"a|b`{title}",), reason=title))
    landed = Passed(change=change, is_fix=True, is_gained=True, later=(title,))
    told = step(
        gains=(gain,), lacks=(gain,), passed=(landed,), cautions=(title,), terms=(Term(place=title, said=title),)
    )
    made = plan(told, why=(title,), tags=(title,), cautions=(title,))
    body = proposal.body(made)
    assert proposal.mark(made) == proposal.read_marker(body)
    prose = "\n".join(line for line in body.splitlines() if "`" not in line)
    for word in ("@everyone", "#1", "GH-2", "www.e", "http://e", "\x1b", "\u202e", "](y)", "](d)", "<b>", " <!channel"):
        assert word not in prose, word
    for text in (bump.render([made]), proposal.commit_message(made), bump.render_json([made])):
        assert "\x1b" not in text
        assert "\u202e" not in text
    assert all(row.count("|") - row.count("\\|") == 4 for row in body.splitlines() if row.startswith("| "))


@pytest.mark.parametrize(
    "upstream", ["https://github.com/a/b)](https://evil", "git://example.org/x", "https://h/$(x)/`y`"]
)
def test_hostile_addresses(upstream):
    """An address that would end a link, or mean something to a shell, does neither."""
    shown = proposal.body(plan(upstream=upstream))
    assert "(https://evil" not in shown.partition("```sh")[0]
    [clone] = [line for line in shown.splitlines() if line.startswith("git clone")]
    assert upstream in clone.replace("'", "")


def test_json_is_plain_values():
    """Everything survives a round trip."""
    assert bump.document([many()]) == json.loads(bump.render_json([many()]))
