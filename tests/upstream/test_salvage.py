"""Broken mirrors are built anew, and what they kept is not lost where it can still be read."""

import shutil
from pathlib import Path

import pytest

from tests.stories.world import clean_up
from tests.upstream.test_mirror import PICTURE, advertised, mirrored, names, refs_of
from watcher.demo.drawing import draw
from watcher.errors import GitError
from watcher.model import Oid
from watcher.upstream import packing, salvage
from watcher.upstream.git import Git
from watcher.upstream.mirror import Mirror


@pytest.fixture
def kept(upstream, tmp_path):
    """Return a mirror that alone still has the commits X and Y, upstream's repository being drawn and made anew."""
    oids = upstream.draw(PICTURE)
    mirror = mirrored(upstream, tmp_path)
    mirror.keep(oids["Y"])
    shutil.rmtree(upstream.path)
    upstream.draw("A---B (main)")
    mirror.fetch(advertised(upstream.url))
    return mirror


def reopened(mirror) -> Mirror:
    return Mirror.open(mirror.directory, mirror.url, filters=True)


def break_pack(mirror):
    """Damage the first pack in its middle."""
    pack = min(mirror.directory.glob("objects/pack/*.pack"))
    pack.chmod(0o644)
    data = bytearray(pack.read_bytes())
    data[len(data) // 2] ^= 0xFF
    pack.write_bytes(data)
    return pack


def test_a_sound_mirror_is_left_alone(kept):
    """Opening it again changes nothing."""
    before = sorted(file.stat().st_mtime_ns for file in kept.directory.rglob("*"))
    assert kept == reopened(kept)
    assert before == sorted(file.stat().st_mtime_ns for file in kept.directory.rglob("*"))


@pytest.mark.parametrize(
    "damage",
    [
        lambda folder: (folder / "HEAD").unlink(),
        lambda folder: (folder / "config").write_text("[core"),
        lambda folder: (folder / "refs" / "heads" / "main").write_text("\0" * 20),
        lambda folder: (folder / "refs" / "heads" / "main").write_text(f"{'1' * 40}\n"),
        lambda folder: (folder / "shallow").write_text(""),
        lambda folder: (folder / "unsound").write_text("seen\n"),
        lambda folder: shutil.rmtree(folder / "refs" / "heads"),
        lambda folder: (folder / "packed-refs").write_text("garbage\n"),
    ],
)
def test_what_was_kept_survives_a_broken_mirror(kept, upstream, damage):
    """The commit that upstream has lost is still there afterwards, and a fetch brings the rest."""
    damage(kept.directory)
    mirror = reopened(kept)
    mirror.fetch(advertised(upstream.url))
    assert {"A", "B", "C", "X", "Y"} == names(upstream.oids, mirror.parents())
    assert f"refs/watcher/kept/{upstream.oids['Y']}" in refs_of(mirror)
    assert [mirror.directory] == [
        path for path in mirror.directory.parent.iterdir() if "mirror" in path.name and path.is_dir()
    ]


def test_a_damaged_pack_is_given_up(upstream, tmp_path):
    """What cannot be read is asked for again; the mirror works afterwards."""
    oids = upstream.draw(PICTURE)
    mirror = mirrored(upstream, tmp_path)
    mirror.keep(oids["Y"])
    pack = break_pack(mirror)
    with pytest.raises(GitError):
        Git(directory=mirror.directory).run("index-pack", str(pack), "-o", str(tmp_path / "x.idx"))
    salvage.note_unsound(mirror.directory, "a damaged pack")
    mirror = reopened(mirror)
    assert {} == refs_of(mirror)
    mirror.fetch(advertised(upstream.url))
    assert mirror.keep(oids["Y"])
    assert set(oids) == names(oids, mirror.parents())


@pytest.mark.parametrize("filters", [True, False])
def test_any_damaged_byte(upstream, tmp_path, filters):
    """Wherever it is: the kept commit is there afterwards, or its loss is noted, and the mirror works again."""
    oids = upstream.draw(PICTURE)
    made = Mirror.open(tmp_path / "mirror.git", upstream.url, filters=filters)
    made.fetch(advertised(upstream.url))
    made.keep(oids["Y"])
    made.complete(oids["E"])
    packing.tidy(made.directory)
    upstream.draw("A---B (main)")
    clean_up(upstream)
    packs = sorted(made.directory.glob("objects/pack/*.pack"))
    size = sum(pack.stat().st_size for pack in packs)
    saved = 0
    for at in range(12, size, max(size // 23, 1)):
        spare = Path(shutil.copytree(made.directory, tmp_path / f"spare{at}.git"))
        [pack] = spare.glob("objects/pack/*.pack")
        content = bytearray(pack.read_bytes())
        content[at] ^= 0xFF
        pack.chmod(0o644)
        pack.write_bytes(content)
        salvage.note_unsound(spare, "a damaged byte")
        mirror = Mirror.open(spare, upstream.url, filters=filters)
        is_kept = f"refs/watcher/kept/{oids['Y']}" in refs_of(mirror)
        assert (() if is_kept else (oids["Y"],)) == salvage.lost(spare)
        mirror.fetch(advertised(upstream.url))
        assert oids["B"] in mirror.parents()
        saved += is_kept
    assert 5 < saved


def test_a_history_that_cannot_be_walked_is_noted(upstream, tmp_path):
    """The next one who opens the mirror builds it anew."""
    oids = upstream.draw(PICTURE)
    mirror = mirrored(upstream, tmp_path)
    Git(directory=mirror.directory).run("commit-graph", "write", "--reachable")
    shutil.rmtree(mirror.directory / "objects" / "info", ignore_errors=True)
    lost = Git(directory=upstream.path).run("cat-file", "commit", oids["E"]).replace(oids["M"].encode(), b"3" * 40)
    tip = (
        Git(directory=mirror.directory).run("hash-object", "-w", "-t", "commit", "--stdin", stdin=lost).decode().strip()
    )
    (mirror.directory / "refs" / "heads" / "main").write_text(f"{tip}\n")
    with pytest.raises(GitError):
        mirror.parents()
    mirror = reopened(mirror)
    mirror.fetch(advertised(upstream.url))
    assert set(oids) == names(oids, mirror.parents())


def test_an_interrupted_rebuild_is_taken_up(kept, upstream):
    """Between its two renames nothing is lost."""
    (kept.directory / "HEAD").unlink()
    kept.directory.rename(kept.directory.with_name("mirror.git.broken"))
    mirror = reopened(kept)
    assert {"A", "B", "C", "X", "Y"} == names(upstream.oids, mirror.parents())


def test_a_folder_that_is_no_mirror_is_replaced(upstream, tmp_path):
    """Such as one that a crash left empty."""
    upstream.draw(PICTURE)
    (tmp_path / "mirror.git").mkdir()
    assert mirrored(upstream, tmp_path).parents()


def test_another_object_format_starts_anew(upstream, kept, tmp_path):
    """The old mirror, with what it kept, is put aside."""
    shutil.rmtree(upstream.path)
    oids = draw(upstream.path, PICTURE, object_format="sha256")
    mirror = mirrored(upstream, tmp_path)
    assert oids["E"] in mirror.parents()
    aside = tmp_path / "mirror.git.sha1"
    assert b"commit\n" == Git(directory=aside).run("cat-file", "-t", f"refs/watcher/kept/{upstream.oids['Y']}")
    assert Oid(upstream.oids["Y"]) not in mirror.parents()
