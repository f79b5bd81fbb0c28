"""Histories as no git program makes them: each ends in a value, in bounded time and memory."""

import pytest

from tests.hostile.conftest import HEAVY
from tests.hostile.measured import MIB, within
from tests.hostile.raw import Raw
from tests.stories import kit
from tests.stories.world import kinds, name_of, offered, reach, reasons
from watcher.upstream.git import Git

BROKEN, REPAIRED = kit.BROKEN.encode(), kit.REPAIRED.encode()
MESSAGE = kit.MESSAGES["F"].encode()
GIB = (1 if HEAVY else 0.25) * 1024 * MIB


def story(raw, *trees, message=MESSAGE, dates=()):
    """Draw one commit for each tree, the last of them a fix of what the one before it has; return their ids."""
    oids = []
    for number, tree in enumerate(trees):
        said = message if number == len(trees) - 1 else b"Run the engine\n"
        when = {"date": dates[number]} if dates else {"date": b"%d +0000" % (1_767_225_600 + 60 * number)}
        oids.append(raw.commit(tree, *oids[-1:], message=said, **when))
    raw.refs({b"refs/heads/main": oids[-1]})
    return oids


def beside(world, name):
    """Return one more repository of the world."""
    path = world.upstream(name).path
    path.parent.mkdir(parents=True, exist_ok=True)
    return Raw(path)


def tree_of(raw, code, **more):
    """Return a tree with the engine's code and further files: name -> oid."""
    source = raw.tree([(b"100644", b"engine.c", raw.blob(code))])
    files = [(b"100644", name.replace("_", ".").encode(), oid) for name, oid in more.items()]
    return raw.tree([(b"40000", b"src", source), *files])


def mirrored(world):
    """Return the bytes that mirrors take on disk."""
    return sum(file.stat().st_size for file in (world.state / "mirrors").rglob("*") if file.is_file())


# --- large contents --------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def sparse():
    """Return a gibibyte of nothing, which a thousandth of it stands for in a pack."""
    return bytes(int(GIB))


def test_a_large_file_that_nobody_changes_is_never_fetched(world, raw, sparse):
    """It lies beside what is shipped: a mirror holds what was asked about, and nothing else."""
    large = raw.blob(sparse)
    oids = story(raw, *(tree_of(raw, code, data_bin=large) for code in (BROKEN, BROKEN, REPAIRED)))
    world.pin(cuda=oids[1])
    found = within(world.look)
    assert oids[2] == offered(found)
    assert large not in world.mirror().run("cat-file", "--batch-all-objects", "--batch-check").decode()


@pytest.mark.parametrize("kind", ["nothing", "lines", "one line"])
def test_a_fix_that_changes_a_large_file_too(world, raw, kind):
    """What a pack expands to a thousandfold is brought, and never read into memory."""
    size = int(GIB / 4)
    contents = {"nothing": bytes(size), "lines": b"int x;\n" * (size // 7), "one line": b"x" * size}[kind]
    before, after = raw.blob(contents), raw.blob(contents + b"y\n")
    trees = [tree_of(raw, code, data_c=it) for code, it in ((BROKEN, before), (BROKEN, before), (REPAIRED, after))]
    oids = story(raw, *trees)
    del contents
    world.pin(cuda=oids[1])
    found = within(world.look)
    assert [] == reasons(found)
    assert oids[2] == offered(found)


@pytest.mark.parametrize("kind", ["lines", "one line"])
def test_the_repaired_file_was_large_in_between(world, raw, kind):
    """Its lines are followed up to there, and what was put in its place is new: as with any other content between."""
    size = int(GIB / 4)
    large = {"lines": b"int x;\n" * (size // 7), "one line": b"x" * size}[kind]
    codes = [BROKEN, BROKEN + b"/* B */\n", large, BROKEN, BROKEN + b"/* C */\n", REPAIRED]
    oids = story(raw, *(tree_of(raw, code) for code in codes))
    del large
    world.pin(cuda=oids[1], rocm=oids[3])
    found = within(world.look)
    assert [] == reasons(found)
    assert oids[5] == offered(found, "rocm")
    assert offered(found, "cuda") is None


def test_a_large_file_that_is_renamed(world, raw):
    """How alike two large files are nobody asks; that they are the same is seen."""
    size = int(GIB / 4)
    one, other = raw.blob(bytes(size)), raw.blob(bytes(size) + b"x")
    code = raw.blob(BROKEN)
    trees = [
        raw.tree([(b"100644", b"engine.c", code), (b"100644", b"a.c", one), (b"100644", b"b.c", one)]),
        raw.tree([(b"100644", b"engine.c", raw.blob(REPAIRED)), (b"100644", b"c.c", other), (b"100644", b"d.c", one)]),
    ]
    oids = story(raw, trees[0], trees[0], trees[1])
    world.pin(cuda=oids[1])
    found = within(world.look)
    assert [] == reasons(found)
    assert oids[2] == offered(found)


@pytest.mark.parametrize("kind", ["a million lines", "long lines"])
def test_a_fix_that_changes_very_much(world, raw, kind):
    """Lines are compared with lines: there must be an end to that."""
    count = 500_000 if HEAVY else 50_000
    before, after = {
        "a million lines": (b"int a;\n" * count, b"int b;\n" * count),
        "long lines": ((b"x" * 40_000 + b";\n") * 20, (b"y" + b"x" * 40_000 + b";\n") * 20),
    }[kind]
    trees = [raw.files({b"engine.c": it}) for it in (BROKEN, before, after)]
    oids = story(raw, *trees)
    world.pin(cuda=oids[1])
    found = within(world.look, seconds=60)
    assert [] == reasons(found)
    assert ["fix-available"] == kinds(found)


def test_a_fix_that_guards_a_long_line(world, raw):
    """What the line was before is looked for among lines as long: there must be an end to that."""
    codes = [b"int a() {\n    x = '%b';\n    end();\n}\n" % (b"ab" * 20_000 + it) for it in (b"1", b"2", b"3")]
    guarded = codes[2].replace(b"    x =", b"    if (ready)\n        wait_for_it();\n    x =")
    oids = story(raw, *(raw.files({b"engine.c": it}) for it in (*codes, guarded)))
    world.pin(cuda=oids[1])
    assert [] == reasons(within(world.look, seconds=10))


# --- large trees -----------------------------------------------------------------------------------------------------


def test_a_tree_with_a_hundred_thousand_entries(world, raw):
    """One of them is changed by a fix."""
    same = raw.blob(b"int x;\n")
    entries = [(b"100644", b"file%06d.c" % number, same) for number in range(1_000_000 if HEAVY else 100_000)]
    trees = [raw.tree([*entries, (b"100644", b"engine.c", raw.blob(code))]) for code in (BROKEN, BROKEN, REPAIRED)]
    oids = story(raw, *trees)
    world.pin(cuda=oids[1])
    assert oids[2] == offered(within(world.look))


def test_folders_in_folders(world, raw):
    """As deep as nobody can go: the code beside it is judged, or it is said that it could not be."""

    def deep(code):
        tree = raw.tree([(b"100644", b"engine.c", raw.blob(code))])
        for _ in range(100_000 if HEAVY else 3_000):
            tree = raw.tree([(b"40000", b"a", tree)])
        return tree

    oids = story(raw, deep(BROKEN), deep(BROKEN + b"/* B */\n"), deep(REPAIRED))
    world.pin(cuda=oids[1])
    found = within(world.look)
    assert [oids[2]] == [offered(found)] or 1 == len(reasons(found))


NAMES = [b"..", b".", b".git", b"-x", b"a\nb", b"\xff", b"", b"a/b", b"/etc", b"C:\\x", b"a\\b", b"nul", b"x" * 5000]


def test_names_in_trees_that_no_checkout_takes(world):
    """Nothing is checked out: the code beside them is judged, or it is said that it could not be; nothing is written.

    `git ls-tree` takes no path that leads out of the repository.
    """
    fixes = {}
    for number, name in enumerate(NAMES):
        raw = beside(world, f"names/n{number}")

        def tree(code, raw=raw, name=name):
            inner = raw.tree([(b"100644", b"engine.c", raw.blob(code))])
            link = raw.blob(b"/etc/passwd")
            return raw.tree([(b"40000", b"src", inner), (b"40000", name, inner), (b"120000", b"z", link)])

        oids = story(raw, tree(BROKEN), tree(BROKEN + b"/* B */\n"), tree(REPAIRED))
        world.pin(f"names/n{number}", cuda=oids[1])
        fixes[name_of(f"names/n{number}")] = oids[2]
    before = set(world.folder.iterdir())
    found = within(world.look)
    silent = {it.upstream: it.reason for it in found.unobserved}
    assert [] == [reason for reason in silent.values() if not reason.startswith(("git ls-tree: ", "git fetch: "))]
    assert len(silent) <= 3
    judged = {fix for upstream, fix in fixes.items() if upstream not in silent}
    assert judged == {made.target.to for made in found.suggestions}
    assert {"images", "state"} >= {it.name for it in set(world.folder.iterdir()) - before}


# --- odd graphs ------------------------------------------------------------------------------------------------------


def test_a_commit_with_fifty_thousand_parents(world, raw):
    """An octopus of one merge and all its arms."""
    tree = tree_of(raw, BROKEN)
    root = raw.commit(tree)
    arms = [raw.commit(tree, root, message=b"arm %d" % number) for number in range(50_000 if HEAVY else 5_000)]
    octopus = raw.commit(tree, root, *arms, *(arms if not HEAVY else ()), message=b"Merge everything")
    fix = raw.commit(tree_of(raw, REPAIRED), octopus, message=MESSAGE)
    raw.refs({b"refs/heads/main": fix})
    world.pin(cuda=root, rocm=arms[-1])
    found = within(world.look, seconds=40)
    assert [] == reasons(found)
    assert fix == offered(found)
    assert "default" == reach(found, "rocm").cls


DATES = {
    "1970": b"0 +0000",
    "before 1970": b"-2208988800 +0000",
    "2038": b"2147483648 +0000",
    "2262": b"9223372036 +0000",
    "beyond the year 9999": b"9999999999999 +0000",
    "beyond 64 bits": b"99999999999999999999999999 +0000",
    "words": b"yesterday +0000",
    "nothing": b"",
    "zone": b"1767225600 +9999",
    "other zone": b"1767225600 -9999",
    "zone of words": b"1767225600 CEST",
    "two lines": b"1767225600",
}


def test_dates(world):
    """Whatever commits claim of their time, their lines are their lines."""
    ours, fixes = b"1767225600 +0000", set()
    for number, date in enumerate(DATES.values()):
        raw = beside(world, f"dates/d{number}")
        trees = [tree_of(raw, it) for it in (BROKEN, BROKEN + b"/* B */\n", BROKEN + b"/* C */\n", REPAIRED)]
        oids = story(raw, *trees, dates=[date, date, ours, date])
        world.pin(f"dates/d{number}", cuda=oids[1])
        fixes.add(oids[3])
    found = within(world.look)
    assert [] == reasons(found)
    assert fixes == {made.target.to for made in found.suggestions}
    assert {"default"} == {it.cls.value for it in found.reachability.values()}


@pytest.mark.parametrize("place", ["served", "mirror"])
@pytest.mark.parametrize("kind", ["replace", "grafts", "shallow"])
def test_objects_that_stand_for_others(world, raw, kind, place):
    """Replaced and grafted commits are what their ids say; a shallow history is never believed."""
    trees = [tree_of(raw, it) for it in (BROKEN, BROKEN + b"/* B */\n", BROKEN + b"/* C */\n", REPAIRED)]
    oids = story(raw, *trees)
    world.pin(cuda=oids[1])
    folder = raw.path
    if place == "mirror":
        world.look()
        folder = world.mirror().directory
    lone = raw.commit(trees[2], message=b"without a past")
    if place == "mirror":
        Git(directory=folder).run("hash-object", "-t", "commit", "-w", "--stdin", stdin=raw_of(raw, lone))
    match kind:
        case "replace":
            (folder / "refs/replace").mkdir(parents=True, exist_ok=True)
            (folder / "refs/replace" / oids[2]).write_text(f"{lone}\n")
        case "grafts":
            (folder / "info").mkdir(exist_ok=True)
            (folder / "info/grafts").write_text(f"{oids[2]}\n")
        case "shallow":
            (folder / "shallow").write_text(f"{oids[2]}\n")
    found = within(world.look)
    if reasons(found):
        assert kind in {"shallow", "grafts"}
        assert [] == kinds(found)
    else:
        assert "default" == reach(found).cls
        assert oids[3] == offered(found)


def raw_of(raw, oid):
    """Return an object as it is."""
    return Git(directory=raw.path).run("cat-file", "commit", oid)


def test_subjects_of_ten_megabytes(world, raw):
    """And bodies, and the name of the author."""
    trees = [tree_of(raw, it) for it in (BROKEN, BROKEN + b"/* B */\n", REPAIRED)]
    long = b"fix: " + b"pages are given back twice " * (10 * MIB // 27)
    first = raw.commit(trees[0])
    second = raw.commit(trees[1], first, message=long)
    third = raw.commit(trees[2], second, message=long + b"\n\n" + long, author=b"a" * 10 * MIB + b" <a@example.org>")
    raw.refs({b"refs/heads/main": third})
    world.pin(cuda=second)
    found = within(world.look)
    assert [] == reasons(found)
    assert third == offered(found)


def test_a_whole_story_in_sha256(world):
    """Pins, fixes, lost branches and moved tags of a repository whose ids have 64 digits."""
    draw = {"object_format": "sha256", **kit.STORY}
    oids = world.engine.draw("A---B   (main, tag: v1)\n     \\\n      S   (topic)", **draw)
    world.pin(cuda=oids["B"], rocm=oids["S"])
    assert "branch" == reach(world.look(), "rocm").cls
    oids |= world.engine.draw("A---B---F   (main, tag: v1)", **draw)
    found = within(world.look)
    assert {64} == {len(oid) for oid in oids.values()}
    assert ["fix-available", "pin-unreachable", "tag-moved"] == kinds(found)
    assert oids["F"] == offered(found)
    assert "orphaned" == reach(found, "rocm").cls
