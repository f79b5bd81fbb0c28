"""What can happen to files of ours: to the database, and to a mirror."""

import os
import random
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

_PAGE = 4096
Damage = Callable[[Path], object]


def _written(file: Path, at: int, content: bytes) -> None:
    file.chmod(0o644)
    with file.open("r+b") as it:
        it.seek(at)
        it.write(content)


def _noise(size: int) -> bytes:
    return random.Random(8).randbytes(size)  # noqa: S311 - no secret


def _settled(damage: Damage) -> Damage:
    """Return the damage to a database that is one file, without a log that has half of it."""

    def done(file: Path) -> None:
        with closing(sqlite3.connect(file)) as db:
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        damage(file)

    return done


def _page_of(table: str) -> Damage:
    """Return the damage that zeroes the first page of a table."""

    def done(file: Path) -> None:
        with closing(sqlite3.connect(file)) as db:
            [root] = db.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (table,)).fetchone()
        _written(file, (root - 1) * _PAGE, bytes(_PAGE))

    return _settled(done)


def _without_its_file(file: Path) -> None:
    """Leave the log alone, as where the file was emptied while somebody wrote."""
    with closing(sqlite3.connect(file)) as db:
        db.execute("UPDATE snapshots SET last_seen = last_seen")
        db.execute("INSERT INTO standings VALUES ('duty nothing', '2026-01-01T00:00:00+00:00', '{}')")
        db.commit()
        log = file.with_name(f"{file.name}-wal").read_bytes()
    file.with_name(f"{file.name}-wal").write_bytes(log)
    file.write_bytes(b"")


DATABASE: dict[str, Damage] = {
    "header overwritten": _settled(lambda file: _written(file, 0, b"\xff" * 100)),
    "first page zeroed": _settled(lambda file: _written(file, 0, bytes(_PAGE))),
    "findings zeroed": _page_of("findings"),
    "events zeroed": _page_of("events"),
    "snapshots zeroed": _page_of("snapshots"),
    "downstreams zeroed": _page_of("downstreams"),
    "readings zeroed": _page_of("readings"),
    "steps zeroed": _page_of("_sqlite_migrations"),
    "cut in half": _settled(lambda file: file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])),
    "empty, with a log": _without_its_file,
    "random bytes": _settled(lambda file: file.write_bytes(_noise(file.stat().st_size))),
    "no database": _settled(lambda file: file.write_text("this is a log file and no database\n" * 300)),
}


def _objects(directory: Path) -> list[Path]:
    return [it for it in sorted(directory.glob("objects/*/*")) if it.is_file() and it.parent.name != "info"]


def _each(suffix: str, damage: Damage) -> Damage:
    """Return the damage to each file of the objects whose name ends so; at least one."""

    def done(directory: Path) -> None:
        files = [it for it in _objects(directory) if it.name.endswith(suffix)]
        if not files:
            raise AssertionError(f"the mirror has no file that ends with {suffix!r}")
        for file in files:
            file.chmod(0o644)
            damage(file)

    return done


def _packed(damage: Damage) -> Damage:
    """Return the damage to a mirror whose refs are packed."""

    def done(directory: Path) -> None:
        from watcher.upstream.git import Git  # noqa: PLC0415 - a process that only needs the names starts faster

        Git(directory=directory).run("pack-refs", "--all")
        damage(directory / "packed-refs")

    return done


def _emptied(directory: Path) -> None:
    for it in directory.iterdir():
        shutil.rmtree(it) if it.is_dir() else it.unlink()


def _unsettled(directory: Path) -> None:
    """Empty what no program waits for until it is on the disk: upstream's own refs, indexes, the table of commits."""
    for pattern in ("refs/heads/**/*", "refs/tags/**/*", "objects/**/*.idx", "objects/info/**/*", "config", "HEAD"):
        for file in [it for it in directory.glob(pattern) if it.is_file()]:
            file.chmod(0o644)
            file.write_bytes(b"")


def _locked(name: str) -> Damage:
    """Return the damage that a program leaves which was killed some time ago."""

    def done(directory: Path) -> None:
        (directory / name).parent.mkdir(parents=True, exist_ok=True)
        (directory / name).touch()
        os.utime(directory / name, (0, 0))

    return done


def _refs(damage: Damage) -> Damage:
    def done(directory: Path) -> None:
        for file in [it for it in sorted((directory / "refs").rglob("*")) if it.is_file()]:
            damage(file)

    return done


MIRROR: dict[str, Damage] = {
    "pack cut": _each(".pack", lambda file: file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])),
    "pack gone": _each(".pack", Path.unlink),
    "index gone": _each(".idx", Path.unlink),
    "index cut": _each(".idx", lambda file: file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])),
    "objects zeroed": _each("", lambda file: file.write_bytes(bytes(file.stat().st_size))),
    "HEAD gone": lambda directory: (directory / "HEAD").unlink(),
    "config gone": lambda directory: (directory / "config").unlink(),
    "config cut": lambda directory: (directory / "config").write_text("[core"),
    "refs emptied": _refs(lambda file: file.write_bytes(b"")),
    "refs zeroed": _refs(lambda file: file.write_bytes(bytes(41))),
    "refs gone": lambda directory: shutil.rmtree(directory / "refs"),
    "packed-refs cut": _packed(lambda file: file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])),
    "packed-refs empty": _packed(lambda file: file.write_bytes(b"")),
    "objects gone": lambda directory: shutil.rmtree(directory / "objects"),
    "emptied": _emptied,
    "gone": shutil.rmtree,
    "power cut": _unsettled,
    "lock of a ref": _locked("refs/heads/main.lock"),
    "lock of packed-refs": _packed(lambda file: _locked("packed-refs.lock")(file.parent)),
    "lock of config": _locked("config.lock"),
    "lock of the table": _locked("objects/info/commit-graphs/commit-graph-chain.lock"),
}
