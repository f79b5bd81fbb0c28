"""Is a change a fix, and why do we say so?"""

import re

import pytest

from tests.judge.picture import UPSTREAM, drawn, named
from watcher.judge.fixes import fix_id, judge_fix
from watcher.judge.shipped import Scope
from watcher.model import ChangedPath, Commit, Grade, Repair, oid

SQUASH = "A---S  (main)"
MERGE = "  X-Y\n /   \\\nA-----M  (main)"


def paths(*names, status="M"):
    """Return altered paths; a plus before a name is a new file."""
    return tuple(
        ChangedPath(
            status="A" if name.startswith("+") else status, path=name.lstrip("+"), blob_before=None, blob_after=None
        )
        for name in names
    )


def judge(message, *altered, lines=10, shipped=(), text=SQUASH, silent=False, **messages):
    """Return what a change with this message is, as a fix or None."""
    landing = "M" if text == MERGE else "S"
    it = drawn(text, messages={landing: message, **messages})
    repair = Repair(landing=named(landing), bound=None, anchors=(), added=lines, removed=0)
    altered = paths(*(altered or ("src/pool.py",)))
    scope = Scope(paths=shipped)
    return judge_fix(UPSTREAM, it.change(landing), altered, it.commits, repair=repair, scope=scope, silent=silent)


def grade(*args, **more):
    """Return the grade alone."""
    found = judge(*args, **more)
    return found and found.grade


CERTAIN, LIKELY, POSSIBLE = Grade


@pytest.mark.parametrize(
    ("message", "answer"),
    [
        # The author's own type
        ("fix: free the pool once", LIKELY),
        ("fix(pool)!: free it once", LIKELY),
        ("[pool] bugfix: free it once", LIKELY),
        ("hotfix: free it once", LIKELY),
        ("fix: free it once\n\nCloses #12", CERTAIN),
        ("feat: free the pool", None),
        ("feat: repair the broken pool", None),
        ("chore: fix crash in CI", None),
        ("refactor: handle a crash", None),
        ("docs: fix a wrong word", None),
        ("perf: avoid a copy", None),
        # A keyword in the title alone
        ("Fix the pool", POSSIBLE),
        ("Fix crash when the pool is freed", POSSIBLE),
        ("Avoid a double free", POSSIBLE),
        ("Pool crashes on exit", POSSIBLE),
        ("Do not free twice", POSSIBLE),
        ("Fixture for the pool", None),
        ("Prefix of the pool", None),
        ("Pool without a lock", None),
        ("Add a hanging garden", None),
        ("Add a check against double release", None),
        ("Support crash dumps", None),
        ("Bump version to fix the build", None),
        # A tag in brackets is a type
        ("[Bugfix] free the pool once", LIKELY),
        ("[Feature] repair the broken pool", None),
        ("[CI] Fix crash", None),
        # Title and body
        ("Fix the pool\n\nThe second release corrupts memory.", LIKELY),
        ("Fix the pool\n\nFixes #12", LIKELY),
        ("Free the pool once\n\nCloses #12", POSSIBLE),
        ("Free the pool once\n\nIt crashed on the second free.", POSSIBLE),
        ("Free the pool once", None),
        # Trailers and advisories
        ('Free the pool once\n\nFixes: abcdef1234 ("Add the pool")', CERTAIN),
        ("Free the pool once\n\nThis is a regression from abcdef1234.", CERTAIN),
        ("Free the pool once\n\nIt was introduced by commit abcdef1234", CERTAIN),
        ("Free the pool once\n\nCVE-2026-12345", CERTAIN),
        ("Free the pool once (GHSA-abcd-ef12-34gh)", CERTAIN),
        ('Revert "Free the pool"\n\nThis reverts commit abcdef1234.', LIKELY),
        ("Merge commit from fork", CERTAIN),
        ("", None),
    ],
)
def test_messages(message, answer):
    """A message makes a fix of a grade; a keyword on the title alone makes at most a possible one."""
    assert answer == grade(message)


@pytest.mark.parametrize(
    ("message", "answer"),
    [
        ("Merge pull request #95 from someone/fix-pool\n\nFree the pool once", LIKELY),
        ("Merge pull request #95 from someone/bug/pool\n\nFree the pool once", LIKELY),
        ("Merge pull request #95 from someone/prefix-pool\n\nFree the pool once", None),
        ("Merge pull request #95 from someone/pool\n\nFree the pool once", None),
        ("Merge pull request #95 from someone/pool\n\nFix the pool", POSSIBLE),
    ],
)
def test_branch_names(message, answer):
    """The name of a merged branch is evidence, where a whole word of it says so."""
    assert answer == grade(message, text=MERGE, X="start", Y="more")


def test_the_work_of_a_merge_speaks():
    """What the side commits say counts, what the merge's own subject repeats does not."""
    message = "Merge pull request #95 from someone/pool\n\nFree the pool once"
    found = judge(message, text=MERGE, X="Guard", Y="Stop\n\nPausing twice released a stale handle and crashed.")
    assert POSSIBLE is found.grade
    assert ["message says 'Pausing twice released a stale handle and crashed.'"] == [
        item.detail for item in found.evidence if item.signal == "harm"
    ]


@pytest.mark.parametrize(
    "altered",
    [
        ("tests/test_pool.py",),
        ("docs/pool.md", "README.md"),
        (".github/workflows/test.yml", "Makefile"),
        (".claude/skills/fix/SKILL.md", "scripts/fix.py"),
        ("third_party/pool/pool.c",),
        (),
    ],
)
def test_nothing_shipped(altered):
    """A change of tests, docs, tooling or vendored code alone is no fix, whatever it says."""
    it = drawn(SQUASH, messages={"S": "fix: crash\n\nFixes: abcdef1234\n\nCVE-2026-12345"})
    assert None is judge_fix(UPSTREAM, it.change("S"), paths(*altered), it.commits)


def test_shipped_paths():
    """A fix names the shipped paths alone; configured globs decide which these are."""
    altered = ("src/pool.py", "tests/test_pool.py", "docs/pool.md", "setup.py")
    assert ("src/pool.py", "setup.py") == judge("fix: once", *altered).paths
    assert ("tests/test_pool.py",) == judge("fix: once", *altered, shipped=("tests/**",)).paths
    assert None is judge("fix: once", *altered, shipped=("csrc/**",))


def test_shape():
    """A test beside it and a small size speak for a fix, a new file and a large size against it."""
    message = "Free the pool once\n\nCloses #12"
    score = {
        name: sum(item.weight for item in judge(message, *altered, lines=lines, silent=True).evidence)
        for name, altered, lines in (
            ("plain", ("src/pool.py",), 10),
            ("tested", ("src/pool.py", "tests/test_pool.py"), 10),
            ("larger", ("src/pool.py",), 100),
            ("adding", ("src/pool.py", "+src/new.py"), 10),
        )
    }
    assert score["tested"] > score["plain"] > max(score["larger"], score["adding"])
    assert POSSIBLE is grade(message)
    assert None is grade(message, "src/pool.py", "+src/new.py", lines=100_000)
    assert LIKELY is grade("fix: once", lines=100_000)


def test_a_shape_alone_bothers_nobody():
    """A change that nothing is said of is no fix; asked for the score alone, its shape may make a possible one."""
    assert None is grade("Free the pool once")
    assert POSSIBLE is grade("Free the pool once", silent=True)
    assert None is grade("Free the pool once", "src/pool.py", "+src/new.py", lines=100_000, silent=True)


def test_the_score_is_the_sum_of_what_is_shown():
    """Every weight that decides is on a receipt, also those that speak against."""
    found = judge("Fix a crash in the new pool\n\nIt fails because the list is empty.", "src/pool.py", "docs/pool.md")
    for item in found.evidence:
        told = [float(word) for word in re.findall(r" ([+-]\d+\.\d\d)\b", item.detail)]
        assert not told or round(sum(told), 2) == item.weight
    assert min(item.weight for item in found.evidence) < 0


def test_unknown_shape_leaves_nothing_out():
    """Before the lines are looked at, whatever may turn out to be a fix is one."""
    it = drawn(SQUASH, messages={"S": "Avoid a double free"})
    assert judge_fix(UPSTREAM, it.change("S"), paths("src/pool.py"), it.commits) is not None


@pytest.mark.parametrize(
    ("message", "answer"),
    [
        ("fix: once\n\nCVE-2026-12345", True),
        ("fix: once\n\nSee GHSA-abcd-ef12-34gh", True),
        ("fix: security of the pool", False),
        ("fix: once\n\nCVE-26-1", False),
    ],
)
def test_security(message, answer):
    """An advisory's id makes a security fix."""
    assert answer is judge(message).is_security


@pytest.mark.parametrize(
    ("message", "names"),
    [
        ("fix: once\n\nFixes: {A}", "A"),
        ('fix: once\n\nFixes: {A:.12} ("Add the pool")', "A"),
        ("fix: once\n\n  fixes: commit {A:.7}", "A"),
        ("fix: once\n\nA regression from {A:.10}, broken by {B:.10}.", "AB"),
        ("fix: regression since {B:.8}", "B"),
        ("fix: once\n\nFixes: {B}\nFixes: {A}\nFixes: {B}", "BA"),
        ('Revert "B"\n\nThis reverts commit {B}.', "B"),
        ("fix: once\n\nThis reverts commit {B}.", ""),
        ("fix: once\n\nFixes: #12", ""),
        ("fix: once\n\nFixes: 0123456789", ""),
        ("fix: once\n\nFixes: " + "0" * 40, ""),
        ("fix: once\n\nSee {A}", ""),
    ],
)
def test_introduced(message, names):
    """The commits that a message blames are told where they are held; a mere mention blames nobody."""
    it = drawn("A---B---S  (main)", messages={"S": message})
    found = judge_fix(UPSTREAM, it.change("S"), paths("src/pool.py"), it.commits)
    assert list(names) == [it.name(one) for one in found.introduced]


def test_ambiguous_culprit():
    """A short id that fits several commits blames none of them."""
    it = drawn(SQUASH, messages={"S": "fix: once\n\nFixes: abcdef1"})
    like = it.commits[named("A")]
    alike = {oid("abcdef1" + digit * 33): like for digit in "01"}
    commits: dict[str, Commit] = {**it.commits, **alike}
    assert () == judge_fix(UPSTREAM, it.change("S"), paths("src/pool.py"), commits).introduced


def test_receipts():
    """Every piece of evidence says what was found and where, the strongest first, and quotes in one short line."""
    found = judge("fix: once\n\n" + "It crashed " * 50 + "\n\nCloses #12", "src/pool.py", "tests/test_pool.py")
    assert "conventional-type" == found.evidence[0].signal
    assert sorted((item.weight for item in found.evidence), reverse=True) == [item.weight for item in found.evidence]
    said = {item.signal: item.detail for item in found.evidence}
    assert "title begins with fix:" == said["conventional-type"]
    assert "Closes #12" == said["linked-issue"]
    assert said["test"].startswith("it: altered test: tests/test_pool.py +")
    assert said["harm"].startswith("message says 'It crashed It crashed")
    assert all(len(item.detail) < 130 for item in found.evidence)


def test_id():
    """A fix is named by owner, name and landing."""
    assert f"owner/project@{named('S')[:12]}" == fix_id(UPSTREAM, named("S")) == judge("fix: once").id


def test_hostile_messages_are_read_in_linear_time():
    """A crowd of anything keeps no expression busy (the timeout would tell)."""
    words = ("\n", " ", "fix ", "fix: ", "[", "[a]", "Fixes: ", "fixes a/", "broken by ", "CVE-2026-", "a", "double ")
    for text in words:
        judge(f"{text * 20_000}\n\n{text * 20_000}")
