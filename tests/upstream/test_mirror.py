"""A mirror equals what is advertised, keeps what we pinned, and answers without asking the server."""

import asyncio
from datetime import UTC, datetime

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.conftest import Upstream
from tests.upstream.test_refs import strict  # noqa: F401 - a fixture
from watcher.demo.drawing import Gitlink
from watcher.demo.server import Page, Silence, Status
from watcher.errors import GitError
from watcher.model import Advertisement, Commit, Hunk, LineRange, Oid, Ref
from watcher.upstream import porcelain
from watcher.upstream.git import Git
from watcher.upstream.mirror import Mirror
from watcher.upstream.refs import poll, pull_refs

PICTURE = r"""
          X---Y            (topic)
         /     \
A---B---C---D---M---E      (main, tag: v1.0, tag: v2.0*, tag: v3.0**)
"""
TEXT = "one\ntwo\nthree\nfour\nfive\nsix\n"
FILES = {
    "B": {"old.c": TEXT},
    "X": {"old.c": None, "new.c": TEXT.replace("five", "FIVE")},
    "E": {"new.c": TEXT.replace("five", "FIVE").replace("two", "TWO")},
}
NOWHERE = Oid("1" * 40)


def advertised(url) -> Advertisement:
    return asyncio.run(poll({url: url}))[url]


def mirrored(upstream, folder, url=None) -> Mirror:
    """Return an up-to-date mirror of an upstream."""
    url = url or upstream.url
    seen = advertised(url)
    mirror = Mirror.open(folder / "mirror.git", url, filters=seen.filters, object_format=seen.object_format)
    mirror.fetch(seen)
    return mirror


def refs_of(mirror) -> dict[str, str]:
    printed = Git(directory=mirror.directory).run("for-each-ref", "--format=%(refname) %(objectname)").decode()
    return dict(line.split(" ") for line in printed.splitlines())


def names(oids, found) -> set[str]:
    return {name for name, oid in oids.items() if oid in set(found)}


# --- equal to what is advertised -------------------------------------------------------------------------------------


def test_refs_are_those_advertised(upstream, tmp_path):
    """Branches and tags, tag objects included; nothing else."""
    upstream.draw(PICTURE, refs={"refs/pull/1/head": "X"})
    mirror = mirrored(upstream, tmp_path)
    assert {ref.name: ref.oid for ref in advertised(upstream.url).refs} == refs_of(mirror)


def test_equal_refs_need_no_fetch(upstream, server, tmp_path):
    """The second time costs no request."""
    upstream.draw(PICTURE)
    mirror = mirrored(upstream, tmp_path)
    seen = advertised(upstream.url)
    server.requests.clear()
    assert not mirror.fetch(seen)
    assert not server.requests


def test_deleted_and_forced_refs_follow(upstream, tmp_path):
    """A fetch prunes: what upstream deleted reaches nothing any more."""
    oids = upstream.draw(PICTURE)
    mirror = mirrored(upstream, tmp_path)
    oids |= upstream.draw("A---B---Z (main)")
    assert mirror.fetch(advertised(upstream.url))
    assert {"refs/heads/main": oids["Z"]} == refs_of(mirror)
    assert {"A", "B", "Z"} == names(oids, mirror.parents())


def test_a_name_may_become_a_folder(upstream, tmp_path):
    """`topic` and `topic/one` conflict on disk, not here."""
    oids = upstream.draw("A---B (main, topic)")
    mirror = mirrored(upstream, tmp_path)
    upstream.draw("A---B (main, topic/one)")
    mirror.fetch(advertised(upstream.url))
    assert {"refs/heads/main": oids["B"], "refs/heads/topic/one": oids["B"]} == refs_of(mirror)


def test_names_that_are_not_utf8_are_held(upstream, tmp_path):
    """Under a name that git allows, and found equal the next time."""
    oids = upstream.draw("A---B (main)")
    packed = upstream.path / "packed-refs"
    packed.write_bytes(
        b"# pack-refs with: peeled fully-peeled sorted \n" + oids["A"].encode() + b" refs/heads/caf\xe9\n"
    )
    mirror = mirrored(upstream, tmp_path)
    assert {oids["A"], oids["B"]} == set(refs_of(mirror).values())
    assert not mirror.fetch(advertised(upstream.url))


def test_thousands_of_refs_are_held(upstream, tmp_path):
    """More than a command line takes."""
    oids = upstream.draw("A---B---C (main)")
    wanted = "".join(f"update refs/tags/release/number/{number:05} {oids['B']}\n" for number in range(3000))
    Git(directory=upstream.path).run("update-ref", "--stdin", stdin=wanted.encode())
    assert 3001 == len(refs_of(mirrored(upstream, tmp_path)))


def test_a_move_while_we_look_is_retryable(upstream, tmp_path):
    """Refs that were advertised and are refused now: look again."""
    upstream.draw("A---B (main)")
    mirror = mirrored(upstream, tmp_path)
    seen = advertised(upstream.url)
    ghosts = tuple(Ref(name=f"refs/heads/{digit}", oid=Oid(digit * 40)) for digit in "12")
    with pytest.raises(GitError, match="moved on") as caught:
        mirror.fetch(Advertisement(refs=(*seen.refs, *ghosts), head=None, digest="x"))
    assert caught.value.retryable


def test_an_empty_upstream_empties_the_mirror(upstream, tmp_path):
    """Down to what is kept."""
    oids = upstream.draw("A---B (main)")
    mirror = mirrored(upstream, tmp_path)
    mirror.keep(oids["A"])
    mirror.fetch(Advertisement(refs=(), head=None, digest="x"))
    assert [f"refs/watcher/kept/{oids['A']}"] == list(refs_of(mirror))


def test_pull_refs_are_held_apart(upstream, tmp_path):
    """They come when asked for, and go when they are not given any more."""
    oids = upstream.draw(PICTURE)
    oids |= upstream.draw(PICTURE + "\nB2---P (refs/pull/9/head)\n")
    mirror = mirrored(upstream, tmp_path)
    assert "P" not in names(oids, mirror.parents())

    mirror.fetch_pulls(asyncio.run(pull_refs(upstream.url)))
    assert oids["P"] == refs_of(mirror)["refs/watcher/pulls/pull/9/head"]
    assert "P" in names(oids, mirror.parents())
    mirror.fetch(advertised(upstream.url))
    assert "refs/watcher/pulls/pull/9/head" in refs_of(mirror)
    mirror.fetch_pulls([])
    assert "P" not in names(oids, mirror.parents())


def test_a_shallow_upstream_is_refused(upstream, server, tmp_path):
    """Its history would answer `not an ancestor`, wrongly."""
    upstream.draw(PICTURE)
    copy = Upstream(server, "owner/shallow")
    Git().run("clone", "-q", "--bare", "--depth=2", "--", upstream.url, str(copy.path))
    with pytest.raises(GitError, match="not whole"):
        mirrored(copy, tmp_path)


def test_a_shallow_mirror_is_refused(upstream, tmp_path):
    """Should somebody have made it so."""
    oids = upstream.draw(PICTURE)
    mirror = mirrored(upstream, tmp_path)
    (mirror.directory / "shallow").write_text(f"{oids['M']}\n")
    with pytest.raises(GitError, match="shallow"):
        mirror.parents()


# --- kept commits ----------------------------------------------------------------------------------------------------


def test_a_kept_commit_outlives_upstream(upstream, tmp_path):
    """With its whole history, although no ref of theirs holds it."""
    oids = upstream.draw(PICTURE)
    mirror = mirrored(upstream, tmp_path)
    assert mirror.keep(oids["Y"])
    assert mirror.keep(oids["Y"])
    upstream.draw("A (main)")
    mirror.fetch(advertised(upstream.url))
    assert {"A", "B", "C", "X", "Y"} == names(oids, mirror.parents())


def test_served_is_not_reachable(upstream, tmp_path):
    """The server hands out what no ref reaches: it can be kept, and still no advertised ref holds it."""
    oids = upstream.draw(PICTURE)
    upstream.draw("A---B (main)")
    mirror = mirrored(upstream, tmp_path)
    assert {"A", "B"} == names(oids, mirror.parents())
    assert mirror.serves(oids["Y"])
    assert mirror.keep(oids["Y"])
    assert {"refs/heads/main"} == {name for name in refs_of(mirror) if not name.startswith("refs/watcher/")}


def test_asking_whether_it_is_served_goes_to_the_server(upstream, server, tmp_path):
    """Even for what we hold; nothing is left behind."""
    oids = upstream.draw(PICTURE)
    mirror = mirrored(upstream, tmp_path)
    held = sorted(mirror.directory.iterdir())
    server.requests.clear()
    assert mirror.serves(oids["E"])
    assert server.count()["fetch"] == 1
    assert held == sorted(mirror.directory.iterdir())


def test_what_the_server_refuses_is_not_kept(upstream, tmp_path):
    """A no, not an error."""
    upstream.draw(PICTURE)
    mirror = mirrored(upstream, tmp_path)
    assert not mirror.keep(NOWHERE)
    assert not mirror.serves(NOWHERE)
    assert not any(name.startswith("refs/watcher/") for name in refs_of(mirror))


@pytest.mark.parametrize("fault", [Status(code=503), Status(code=403), Status(code=429)])
def test_trouble_is_neither_yes_nor_no(upstream, tmp_path, fault):
    """An unreachable server says nothing about a commit."""
    upstream.draw(PICTURE)
    mirror = mirrored(upstream, tmp_path)
    upstream.fault(fault)
    for ask in (mirror.keep, mirror.serves):
        with pytest.raises(GitError) as caught:
            ask(NOWHERE)
        assert caught.value.retryable


def test_a_page_instead_of_git_is_an_error(upstream, tmp_path):
    """A login wall refuses no commit."""
    upstream.draw(PICTURE)
    mirror = mirrored(upstream, tmp_path)
    upstream.fault(Page())
    with pytest.raises(GitError):
        mirror.serves(NOWHERE)


def test_a_held_commit_needs_no_server(upstream, tmp_path):
    """Keeping what the mirror has works while upstream is silent."""
    oids = upstream.draw(PICTURE)
    mirror = mirrored(upstream, tmp_path)
    upstream.fault(Silence())
    assert mirror.keep(oids["B"])


def test_a_tag_object_can_be_kept(upstream, tmp_path):
    """A pin may be the id of an annotated tag, or of a tag of a tag; it is peeled."""
    oids = upstream.draw(PICTURE)
    mirror = mirrored(upstream, tmp_path)
    for name in ("refs/tags/v2.0", "refs/tags/v3.0"):
        tag = Oid(refs_of(mirror)[name])
        assert mirror.keep(tag)
        assert oids["E"] == mirror.peel(tag)
    upstream.draw("A (main)")
    mirror.fetch(advertised(upstream.url))
    assert "E" in names(oids, mirror.parents())


def test_contents_are_no_commits(upstream, tmp_path):
    """The id of a file is not kept as if it were a pin."""
    oids = upstream.draw(PICTURE)
    mirror = mirrored(upstream, tmp_path)
    blob = mirror.files(oids["A"])["A"]
    assert not mirror.keep(blob)
    assert mirror.peel(blob) is None
    assert mirror.peel(NOWHERE) is None


def test_a_strict_old_server_is_mirrored_whole(upstream, strict, tmp_path):  # noqa: F811 - the fixture
    """It refuses what it does not advertise."""
    oids = upstream.draw(PICTURE)
    mirror = mirrored(upstream, tmp_path, url=strict)
    assert "E" in names(oids, mirror.parents())
    assert not mirror.keep(NOWHERE)
    assert not mirror.serves(NOWHERE)


# --- answers ---------------------------------------------------------------------------------------------------------


def test_parents_are_the_graph(upstream, tmp_path):
    """Every commit with its parents in order."""
    oids = upstream.draw(PICTURE)
    parents = mirrored(upstream, tmp_path).parents()
    assert (oids["D"], oids["Y"]) == parents[oids["M"]]
    assert () == parents[oids["A"]]
    assert 8 == len(parents)


def test_short_ids_are_expanded(upstream, tmp_path):
    """Into commits alone; none and several are answers too."""
    oids = upstream.draw(PICTURE)
    mirror = mirrored(upstream, tmp_path)
    assert (oids["E"],) == mirror.expand(oids["E"][:7])
    assert (oids["E"],) == mirror.expand(oids["E"][:39])
    assert () == mirror.expand("1234567")
    assert () == mirror.expand(mirror.files(oids["A"])["A"][:10])
    assert () == mirror.expand("-x")


def test_ambiguous_short_ids_name_all_candidates(upstream, tmp_path):
    """Enough commits share four digits."""
    chain = "-".join(f"c{number}" for number in range(700))
    oids = upstream.draw(chain + " (main)")
    by_prefix = {}
    for oid in oids.values():
        by_prefix.setdefault(oid[:4], []).append(oid)
    prefix, expected = next((p, found) for p, found in by_prefix.items() if len(found) > 1)
    assert tuple(sorted(expected)) == mirrored(upstream, tmp_path).expand(prefix)


def test_metadata_of_commits(upstream, tmp_path):
    """Subject, body, names and aware times; children first."""
    when = datetime(2026, 8, 7, 12, tzinfo=UTC)
    oids = upstream.draw(
        PICTURE,
        messages={"M": "Merge pull request #95 from x/y\n\nTitle\n\nFixes: abc"},
        authors={"M": "Ada Lovelace <ada@example.org>"},
        dates={"M": when},
    )
    mirror = mirrored(upstream, tmp_path)
    found = mirror.commits([oids["E"]], [oids["D"]])
    assert ["E", "M", "Y", "X"] == [name for c in found for name, oid in oids.items() if oid == c.oid]
    assert found[1] == Commit(
        oid=oids["M"],
        parents=(oids["D"], oids["Y"]),
        author="Ada Lovelace",
        email="ada@example.org",
        authored_at=when,
        committed_at=when,
        subject="Merge pull request #95 from x/y",
        body="Title\n\nFixes: abc",
    )
    assert () == mirror.commits([])


def test_odd_commits_are_read(upstream, tmp_path):
    """Bytes that are no UTF-8, dates beyond the calendar, no message, no name."""
    oids = upstream.draw("A---B (main)")
    git = Git(directory=upstream.path)
    tree = git.run("rev-parse", "main^{tree}").decode().strip()
    tip = oids["B"]
    for body in (
        b"author \xff\xfe <x@y> 99999999999999 +0000\ncommitter C <c@d> 5 +9999\n\nsub\xe9ject\n\nbody\x01\n",
        b"author <> 1 +0000\ncommitter A <b> -5 +0000\n\n",
        b"author Nobody\ncommitter Nobody\n\nlate\n",
    ):
        raw = f"tree {tree}\nparent {tip}\n".encode() + body
        tip = git.run("hash-object", "-w", "-t", "commit", "--literally", "--stdin", stdin=raw).decode().strip()
    git.run("update-ref", "refs/heads/main", tip)
    found = mirrored(upstream, tmp_path).commits([Oid(tip)], [oids["B"]])
    assert ["late", "", "sub\ufffdject"] == [commit.subject for commit in found]
    assert 9999 == found[2].authored_at.year
    assert 1970 == found[0].authored_at.year


def test_unknown_commits_are_an_error(upstream, tmp_path):
    """Never an empty answer."""
    oids = upstream.draw(PICTURE)
    mirror = mirrored(upstream, tmp_path)
    with pytest.raises(GitError):
        mirror.commits([NOWHERE])
    with pytest.raises(GitError):
        mirror.changed_paths([(oids["A"], NOWHERE)])
    with pytest.raises(GitError):
        mirror.diff(oids["A"], NOWHERE, ignore_space=False)


def test_first_parents(upstream, tmp_path):
    """A root has none."""
    oids = upstream.draw(PICTURE)
    mirror = mirrored(upstream, tmp_path)
    assert oids["D"] == mirror.first_parent(oids["M"])
    assert mirror.first_parent(oids["A"]) is None


def test_changed_paths_need_no_contents(upstream, server, tmp_path):
    """Against the given parent, in one go, with one fetch of trees; equal commits differ in nothing."""
    oids = upstream.draw(PICTURE, files=FILES)
    mirror = mirrored(upstream, tmp_path)
    server.requests.clear()
    pairs = [(oids["D"], oids["M"]), (None, oids["A"]), (oids["M"], oids["M"]), (oids["C"], oids["M"])]
    found = mirror.changed_paths(pairs)
    assert pairs == list(found)
    assert [("A", "Y"), ("A", "new.c"), ("D", "old.c")] == [(c.status, c.path) for c in found[pairs[0]]]
    assert [("A", "A", None)] == [(c.status, c.path, c.blob_before) for c in found[pairs[1]]]
    assert () == found[pairs[2]]
    assert ["D", "Y", "new.c", "old.c"] == [c.path for c in found[pairs[3]]]
    assert 1 == server.count()["fetch"]
    held = Git(directory=mirror.directory).run("cat-file", "--batch-all-objects", "--batch-check")
    assert b" blob " not in held
    assert {} == mirror.changed_paths([])


def test_submodules_are_no_contents(upstream, tmp_path):
    """They are told apart, so nobody tries to fetch them as files."""
    oids = upstream.draw(
        "A---B---C (main)", files={"B": {"dep": Gitlink(NOWHERE)}, "C": {"dep": Gitlink(Oid("2" * 40))}}
    )
    mirror = mirrored(upstream, tmp_path)
    assert {"dep": "2" * 40} == mirror.gitlinks(oids["C"])
    assert {"A"} == set(mirror.files(oids["C"]))
    [change] = mirror.changed_paths([(oids["B"], oids["C"])])[oids["B"], oids["C"]]
    assert ("M", "dep", None, None) == (change.status, change.path, change.blob_before, change.blob_after)
    assert () == mirror.diff(oids["B"], oids["C"], ignore_space=False)


def test_what_landed_and_moved_a_submodule(upstream, tmp_path):
    """Along the first parents: a merge counts, and what it brought does not."""
    picture = """
          X---Y
         /     \\
    A---B---C---M---D---E   (main)
    """
    two, three = Gitlink(Oid("2" * 40)), Gitlink(Oid("3" * 40))
    files = {"A": {"dep": Gitlink(NOWHERE)}, "X": {"dep": two}, "Y": {"dep": three}, "E": {"dep": None}}
    oids = upstream.draw(picture, files=files)
    mirror = mirrored(upstream, tmp_path)
    moved = mirror.relinks_of("dep", oids["A"], oids["E"])
    assert [(oids["E"], None), (oids["M"], "3" * 40)] == [(commit.oid, link) for commit, link in moved]
    assert () == mirror.relinks_of("nowhere", oids["A"], oids["E"])


def test_one_entry_of_a_tree(upstream, tmp_path):
    """A file has contents, a submodule a commit, and neither is the other."""
    oids = upstream.draw("A   (main)", files={"A": {"dep": Gitlink(NOWHERE), "deps/x": "1"}})
    mirror = mirrored(upstream, tmp_path)
    paths = ("dep", "deps/x", "deps", "none")
    assert [NOWHERE, None, None, None] == [mirror.gitlink(oids["A"], path) for path in paths]
    assert [None, b"1", None, None] == [mirror.content(oids["A"], path) for path in paths]


def test_contents_come_in_one_batch(upstream, server, tmp_path):
    """One fetch for all of them, none the second time; large ones are left out."""
    oids = upstream.draw(PICTURE, files=FILES | {"D": {"big": "x" * 5000}})
    mirror = mirrored(upstream, tmp_path)
    blobs = mirror.files(oids["E"])
    server.requests.clear()
    found = mirror.read(blobs.values(), largest=1000)
    assert {"A": b"A\n", "C": b"C\n", "Y": b"Y\n"} == {
        path: found[blob] for path, blob in blobs.items() if path not in {"big", "new.c"}
    }
    assert blobs["big"] not in found
    assert 1 == server.count()["fetch"]
    mirror.read(blobs.values())
    assert 1 == server.count()["fetch"]
    assert {} == mirror.read([])


def test_a_question_never_fetches(upstream, server, tmp_path):
    """A forgotten batch is an error instead of a crawl."""
    oids = upstream.draw(PICTURE, files=FILES)
    mirror = mirrored(upstream, tmp_path)
    server.requests.clear()
    with pytest.raises(GitError):
        mirror._patch(oids["D"], oids["M"])
    assert not server.requests


def test_a_server_without_filter_is_mirrored_whole(upstream, server, tmp_path):
    """Then nothing is missing, and nothing promises to bring it."""
    oids = upstream.draw(PICTURE)
    Git(directory=upstream.path).run("config", "uploadpack.allowFilter", "false")
    mirror = mirrored(upstream, tmp_path)
    assert not mirror.partial
    server.requests.clear()
    assert b"E\n" in mirror.read(mirror.files(oids["E"]).values()).values()
    assert not server.requests
    assert not list(mirror.directory.glob("objects/pack/*.promisor"))


def test_diffs_have_lines_and_former_names(upstream, tmp_path):
    """Without context; a renamed file keeps its old path, a new one has none."""
    oids = upstream.draw(PICTURE, files=FILES)
    mirror = mirrored(upstream, tmp_path)
    found = mirror.diff(oids["D"], oids["M"], ignore_space=False)
    assert [("Y", None), ("new.c", "old.c")] == [(f.path, f.old_path) for f in found]
    assert (Hunk(old_start=5, old=("five",), new_start=5, new=("FIVE",)),) == found[1].hunks
    apart = mirror.diff(oids["D"], oids["M"], ignore_space=False, renames=False)
    assert [("Y", None), ("new.c", None), ("old.c", "old.c")] == [(f.path, f.old_path) for f in apart]
    assert [("A", None)] == [(f.path, f.old_path) for f in mirror.diff(None, oids["A"], ignore_space=False)]


def test_diffs_of_some_paths_find_renames_too(upstream, tmp_path):
    """The former name need not be asked for."""
    oids = upstream.draw(PICTURE, files=FILES)
    mirror = mirrored(upstream, tmp_path)
    found = mirror.diff(oids["D"], oids["M"], ignore_space=False, paths=["new.c"])
    assert [("new.c", "old.c")] == [(f.path, f.old_path) for f in found]
    assert () == mirror.diff(oids["D"], oids["M"], ignore_space=False, paths=["none"])


def test_space_can_be_ignored(upstream, tmp_path):
    """A wrapped line is then a pure addition."""
    oids = upstream.draw("A---B (main)", files={"A": {"f": "a\nb\nc\n"}, "B": {"f": "a\nif x:\n    b\nc\n"}})
    mirror = mirrored(upstream, tmp_path)
    [plain] = mirror.diff(oids["A"], oids["B"], ignore_space=False)
    [loose] = mirror.diff(oids["A"], oids["B"], ignore_space=True)
    assert ("b",) == plain.hunks[0].old
    assert (Hunk(old_start=1, old=(), new_start=2, new=("if x:",)),) == loose.hunks


def test_patch_ids_see_indentation(upstream, tmp_path):
    """The same change elsewhere has the same id; another indentation has another; nothing has none."""
    base = {"f": "a\nb\nc\n"}
    oids = upstream.draw(
        "A---B (main)\n \\\n  C---D (other)",
        files={"A": base, "B": {"f": "a\nb\nnew\nc\n"}, "D": {"f": "a\nb\nnew\nc\n"}},
    )
    mirror = mirrored(upstream, tmp_path)
    first = mirror.patch_id(oids["A"], oids["B"])
    assert first == mirror.patch_id(oids["C"], oids["D"])
    assert mirror.patch_id(oids["A"], oids["A"]) is None
    upstream.draw("A---B---E (main)", files={"A": base, "B": {"f": "a\nb\n  new\nc\n"}})
    mirror.fetch(advertised(upstream.url))
    assert first != mirror.patch_id(oids["A"], upstream.oids["B"])


# --- entries ---------------------------------------------------------------------------------------------------------


def test_entries_of_several_commits_are_told_together(upstream, tmp_path):
    """Files with their contents, submodules without, what is not there left out; of each commit as it has them."""
    files = {
        "A": {"x": "1", "y/z": "2", "sub": Gitlink(NOWHERE), "folder/f": "3"},
        "B": {"x": None, "y/z": "changed", "new": "4"},
        "C": {"sub": None, "folder/f": None, "folder": "a file now"},
    }
    oids = upstream.draw("A---B---C  (main)", files=files)
    mirror = mirrored(upstream, tmp_path)
    asked = ["x", "y/z", "sub", "new", "folder", "none"]
    found = mirror.entries_of([oids[name] for name in "BAC"], asked)
    whole = {name: mirror.tree(oids[name]) for name in "ABC"}
    expected = {
        oids[name]: {path: files.get(path) for path in asked if path in files or path in gitlinks}
        for name, (files, gitlinks) in whole.items()
    }
    assert expected == found
    assert found[oids["A"]]["sub"] is None
    assert {"y/z": whole["C"][0]["y/z"]} == mirror.entries_of([oids["C"]], ["y/z"])[oids["C"]]
    assert {} == mirror.entries_of([], asked)


# --- blame -----------------------------------------------------------------------------------------------------------


def blamed(mirror, oids, commit, path, bound, ranges=((1, 6),)):
    """Return (text, name of the origin, its path, is it older) of each line."""
    asked = [LineRange(first=first, last=last) for first, last in ranges]
    by_oid = {oid: name for name, oid in oids.items()}
    bound = oids[bound] if bound else None
    return [
        (line.text, by_oid[line.origin], line.origin_path, line.is_boundary)
        for line in mirror.blame(oids[commit], path, asked, bound=bound)
    ]


def test_lines_are_followed_through_renames_and_merges(upstream, tmp_path):
    """To the commit that wrote them, under the name that the file had then."""
    oids = upstream.draw(PICTURE, files=FILES)
    found = blamed(mirrored(upstream, tmp_path), oids, "E", "new.c", None)
    assert ("one", "B", "old.c", False) == found[0]
    assert ("TWO", "E", "new.c", False) == found[1]
    assert ("FIVE", "X", "new.c", False) == found[4]


def test_blame_stops_at_its_bound(upstream, tmp_path):
    """What is as old as the bound is a boundary line, and only what is newer is fetched."""
    oids = upstream.draw(PICTURE, files=FILES)
    mirror = mirrored(upstream, tmp_path)
    found = blamed(mirror, oids, "E", "new.c", "C", ranges=((1, 2), (5, 5)))
    assert [("one", "C", "old.c", True), ("TWO", "E", "new.c", False), ("FIVE", "X", "new.c", False)] == found
    assert [True] * 6 == [is_older for *_, is_older in blamed(mirror, oids, "E", "new.c", "E")]


def test_blame_takes_one_fetch_a_file_and_one_a_rename(upstream, server, tmp_path):
    """Or none, when the contents of several files were brought beforehand."""
    oids = upstream.draw(PICTURE, files=FILES)
    mirror = mirrored(upstream, tmp_path)
    mirror.bring_trees(oids.values())
    server.requests.clear()
    blamed(mirror, oids, "E", "new.c", None)
    assert 2 >= server.count()["fetch"]
    server.requests.clear()
    blamed(mirror, oids, "E", "new.c", "C")
    assert not server.requests


def test_blame_of_a_branchy_history_needs_no_more_contents(upstream, tmp_path):
    """Merges that take one side, both sides, and re-created files: what was foreseen is enough."""
    files = {
        "A": {"f": TEXT, "g": "x\n" * 5},
        "X": {"f": TEXT.replace("one", "ONE")},
        "D": {"f": TEXT.replace("six", "SIX")},
        "M": {"f": TEXT.replace("one", "ONE").replace("six", "SIX")},
        "Y": {"g": None, "h": "x\n" * 4 + "y\n"},
        "E": {"f": None},
        "F": {"f": TEXT.replace("one", "ONE").replace("six", "SIX!")},
    }
    oids = upstream.draw(PICTURE.replace("M---E  ", "M---E---F"), files=files)
    mirror = mirrored(upstream, tmp_path)
    for bound in (None, "A", "B", "C", "X", "D"):
        assert 6 == len(blamed(mirror, oids, "M", "f", bound))
        assert 6 == len(blamed(mirror, oids, "F", "f", bound))
        assert 5 == len(blamed(mirror, oids, "F", "h", bound, ranges=((1, 5),)))
    assert ("ONE", "X", "f", False) == blamed(mirror, oids, "M", "f", "C")[0]
    assert ("y", "Y", "h", False) == blamed(mirror, oids, "F", "h", "C", ranges=((5, 5),))[0]
    assert ("x", "C", "g", True) == blamed(mirror, oids, "F", "h", "C", ranges=((1, 1),))[0]


def test_what_is_not_there_has_no_lines(upstream, tmp_path):
    """Neither a missing path nor no range is an error."""
    oids = upstream.draw(PICTURE)
    mirror = mirrored(upstream, tmp_path)
    assert [] == blamed(mirror, oids, "E", "none.c", None)
    assert [] == blamed(mirror, oids, "E", "none.c", "E")
    assert [] == blamed(mirror, oids, "E", "A", None, ranges=())


def test_odd_names_and_lines_are_blamed(upstream, tmp_path):
    """Quotes, tabs, magic characters; carriage returns and form feeds stay in the line."""
    path = ':(top)"q\t*ü'
    oids = upstream.draw("A---B (main)", files={"A": {path: "x\x0cy\r\nz"}, "B": {path: "x\x0cy\r\nZ"}})
    mirror = mirrored(upstream, tmp_path)
    assert [("x\x0cy\r", "A", path, True), ("Z", "B", path, False)] == blamed(
        mirror, oids, "B", path, "A", ranges=((1, 2),)
    )
    [diff] = mirror.diff(oids["A"], oids["B"], ignore_space=False)
    assert (path, path, ("z",), ("Z",)) == (diff.path, diff.old_path, diff.hunks[0].old, diff.hunks[0].new)


# --- folders ---------------------------------------------------------------------------------------------------------


def test_other_object_formats_are_mirrored(upstream, tmp_path):
    """SHA-256, with kept commits, diffs, blame and the question what is served."""
    oids = upstream.draw(PICTURE, files=FILES, object_format="sha256")
    mirror = mirrored(upstream, tmp_path)
    assert mirror.keep(oids["X"])
    assert mirror.serves(oids["X"])
    assert not mirror.serves(Oid("1" * 64))
    assert ("one", "B", "old.c", False) == blamed(mirror, oids, "E", "new.c", None)[0]
    assert 1 == len(mirror.diff(None, oids["A"], ignore_space=True))
    assert mirror.patch_id(None, oids["A"])


def test_no_address_lies_on_disk(upstream, tmp_path):
    """Neither in the configuration nor elsewhere: it may hold a secret."""
    upstream.draw(PICTURE)
    mirror = mirrored(upstream, tmp_path)
    mirror.read(mirror.files(Oid(refs_of(mirror)["refs/heads/main"])).values())
    for file in mirror.directory.rglob("*"):
        assert not file.is_file() or b"127.0.0.1" not in file.read_bytes()


def test_size_is_told(upstream, tmp_path):
    """In bytes."""
    upstream.draw(PICTURE)
    mirror = mirrored(upstream, tmp_path)
    before = mirror.size()
    (mirror.directory / "more").write_bytes(b"x" * 100)
    assert before + 100 == mirror.size()


@st.composite
def edits(draw):
    """Draw a history: for each commit its parents, and what it does to a few files (edit, rename, delete, new)."""
    commits = []
    for number in range(draw(st.integers(3, 9))):
        parents = draw(st.lists(st.integers(max(0, number - 3), number - 1), max_size=2, unique=True)) if number else []
        acts = draw(
            st.lists(
                st.tuples(
                    st.sampled_from("abc"), st.sampled_from(["edit", "edit", "rename", "drop"]), st.integers(0, 9)
                ),
                max_size=3,
            )
        )
        commits.append((parents, acts))
    return commits


def written(commits, folder):
    """Write such a history with git itself; return the oids and the last tree's files."""
    git = Git(directory=folder)
    Git().run("init", "-q", "--bare", "--", str(folder))
    git.run("config", "uploadpack.allowFilter", "true")
    trees, parts = [], []
    for number, (parents, acts) in enumerate(commits):
        tree = dict(trees[parents[0]]) if parents else {name: [f"{name}{n}" for n in range(10)] for name in "abc"}
        for name, act, line in acts:
            if act == "edit" and name in tree:
                tree[name] = [*tree[name][:line], f"{number}.{line}", *tree[name][line + 1 :]]
            elif act == "edit":
                tree[name] = [f"{name}{n}" for n in range(10)]
            elif act == "rename" and name in tree:
                tree[f"abc{line}"[-2:]] = tree.pop(name)
            else:
                tree.pop(name, None)
        trees.append(tree)
        words = ("from", *["merge"] * len(parents))
        links = "".join(f"{word} :{parent + 1}\n" for word, parent in zip(words, parents, strict=False))
        parts.append(f"reset refs/heads/main\n\ncommit refs/heads/main\nmark :{number + 1}\n")
        parts.append(f"committer A <a@b> {1000 + number} +0000\ndata 1\n{number % 10}\n{links}deleteall\n")
        for name, lines in tree.items():
            text = "\n".join(lines) + "\n"
            parts.append(f"M 100644 inline {name}\ndata {len(text)}\n{text}\n")
        parts.append(f"\nget-mark :{number + 1}\n")
    oids = [
        Oid(o) for o in git.run("fast-import", "--quiet", "--force", stdin="".join(parts).encode()).decode().split()
    ]
    return oids, trees[-1]


def served(commits, server, tmp_path_factory):
    """Return a mirror of such a history that is served, git at work in what is served, its oids and last files."""
    folder = tmp_path_factory.mktemp("random")
    name = f"random/{folder.name}"
    oids, files = written(commits, server.path(name))
    return mirrored(Upstream(server, name), folder), Git(directory=server.path(name)), oids, files


with_few_examples = settings(
    max_examples=15,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    phases=(Phase.explicit, Phase.reuse, Phase.generate),  # each example takes processes: no shrinking
)


@with_few_examples
@given(commits=edits(), data=st.data())
def test_blame_is_gits_own(server, tmp_path_factory, commits, data):
    """On random histories with merges and renames, what was foreseen is enough, and the answer is that of a clone."""
    mirror, whole, oids, files = served(commits, server, tmp_path_factory)
    held = mirror.parents()
    for path in files:
        bound = data.draw(st.sampled_from([None, *(oid for oid in oids[:-1] if oid in held)]))
        revision = f"{bound}..{oids[-1]}" if bound else oids[-1]
        told = whole.run("blame", "-w", "--line-porcelain", revision, "--", path)
        if data.draw(st.booleans()):
            mirror.bring_trees(data.draw(st.lists(st.sampled_from([oid for oid in oids if oid in held]))))
        found = mirror.blame(oids[-1], path, [LineRange(first=1, last=10)], bound=bound)
        assert tuple(porcelain.blamed(told)) == found


# --- whole commits ---------------------------------------------------------------------------------------------------


def test_a_commit_is_completed_in_two_batches(upstream, server, tmp_path):
    """First its trees, then their contents; submodules not. From then on it is whole without the server."""
    oids = upstream.draw("A---B   (main)", files={"A": {"sub": Gitlink(NOWHERE), "x": "1", "y/z": "2"}})
    mirror = mirrored(upstream, tmp_path)
    assert not mirror.is_whole(oids["B"])
    server.requests.clear()
    assert 4 == mirror.complete(oids["B"])
    assert 2 == [request.kind for request in server.requests].count("fetch")
    server.requests.clear()
    assert mirror.is_whole(oids["B"])
    assert 0 == mirror.complete(oids["B"])
    assert not server.requests


def test_contents_of_other_commits_stay_where_they_are(upstream, tmp_path):
    """What a commit needs is its own tree, not its history."""
    oids = upstream.draw("A---B   (main)", files={"A": {"x": "1"}, "B": {"x": "2"}})
    mirror = mirrored(upstream, tmp_path)
    mirror.complete(oids["B"])
    assert not mirror.is_whole(oids["A"])


def test_a_commit_that_is_not_held_is_no_question(upstream, tmp_path):
    """Neither whole nor lacking: an error."""
    upstream.draw("A (main)")
    with pytest.raises(GitError):
        mirrored(upstream, tmp_path).is_whole(NOWHERE)
