"""The tables, as steps from an empty file to what this version writes.

A step that was released is never edited; a new one is added below it. A database that knows a step which is not here
comes from a newer version.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlite_utils import Database, Migrations


def m001_upstreams(db: "Database") -> None:
    """Add what upstreams showed: refs, moves, the ledger of who held what, failed looks, identity, facts."""
    for table in (
        """
        CREATE TABLE snapshots (
            upstream TEXT PRIMARY KEY,
            head TEXT,
            digest TEXT NOT NULL,
            object_format TEXT NOT NULL,
            filters INTEGER NOT NULL CHECK (filters IN (0, 1)),
            moved_to TEXT,
            changed_at TEXT NOT NULL,
            last_seen TEXT NOT NULL
        ) STRICT
        """,
        """
        CREATE TABLE refs (
            upstream TEXT NOT NULL,
            is_pull INTEGER NOT NULL CHECK (is_pull IN (0, 1)),
            name TEXT NOT NULL,
            oid TEXT NOT NULL,
            peeled TEXT,
            PRIMARY KEY (upstream, is_pull, name)
        ) STRICT, WITHOUT ROWID
        """,
        """
        CREATE TABLE moves (
            id INTEGER PRIMARY KEY,
            upstream TEXT NOT NULL,
            ref TEXT NOT NULL,
            before TEXT,
            after TEXT,
            forced INTEGER CHECK (forced IN (0, 1)),
            at TEXT NOT NULL
        ) STRICT
        """,
        "CREATE INDEX moves_of_a_ref ON moves (upstream, ref)",
        """
        CREATE TABLE holdings (
            upstream TEXT NOT NULL,
            held TEXT NOT NULL,
            ref TEXT NOT NULL,
            first_seen TEXT NOT NULL,
            last_seen TEXT NOT NULL,
            tip TEXT NOT NULL,
            PRIMARY KEY (upstream, held, ref)
        ) STRICT, WITHOUT ROWID
        """,
        """
        CREATE TABLE failed_looks (
            upstream TEXT PRIMARY KEY,
            tries INTEGER NOT NULL,
            since TEXT NOT NULL,
            missing_tries INTEGER NOT NULL,
            missing_since TEXT,
            last_reason TEXT NOT NULL,
            is_missing INTEGER NOT NULL CHECK (is_missing IN (0, 1))
        ) STRICT
        """,
        """
        CREATE TABLE identities (
            upstream TEXT NOT NULL,
            sort TEXT NOT NULL CHECK (sort IN ('root', 'alias')),
            value TEXT NOT NULL,
            first_seen TEXT NOT NULL,
            PRIMARY KEY (upstream, sort, value)
        ) STRICT, WITHOUT ROWID
        """,
        """
        CREATE TABLE facts (
            upstream TEXT NOT NULL,
            kind TEXT NOT NULL,
            landing TEXT NOT NULL,
            version INTEGER NOT NULL,
            body TEXT NOT NULL CHECK (json_valid(body)),
            PRIMARY KEY (upstream, kind, landing)
        ) STRICT, WITHOUT ROWID
        """,
    ):
        db.execute(table)


def m002_lifecycle(db: "Database") -> None:
    """Add what became of findings: their state, the log of events, the messages owed, which downstreams ran before."""
    for table in (
        """
        CREATE TABLE findings (
            key TEXT PRIMARY KEY,
            kind TEXT NOT NULL,
            severity TEXT NOT NULL,
            state TEXT NOT NULL,
            body TEXT NOT NULL CHECK (json_valid(body))
        ) STRICT
        """,
        """
        CREATE TABLE events (
            id INTEGER PRIMARY KEY,
            event TEXT NOT NULL UNIQUE,
            key TEXT NOT NULL REFERENCES findings (key),
            kind TEXT NOT NULL,
            at TEXT NOT NULL,
            is_baseline INTEGER NOT NULL CHECK (is_baseline IN (0, 1)),
            body TEXT NOT NULL CHECK (json_valid(body))
        ) STRICT
        """,
        "CREATE INDEX events_of_a_finding ON events (key)",
        """
        CREATE TABLE outbox (
            id INTEGER PRIMARY KEY,
            idempotency_key TEXT NOT NULL UNIQUE,
            channel TEXT NOT NULL,
            payload TEXT NOT NULL CHECK (json_valid(payload)),
            created_at TEXT NOT NULL,
            attempts INTEGER NOT NULL DEFAULT 0,
            next_try_at TEXT NOT NULL,
            delivered_at TEXT,
            failed_at TEXT,
            reason TEXT NOT NULL DEFAULT '',
            CHECK (delivered_at IS NULL OR failed_at IS NULL)
        ) STRICT
        """,
        "CREATE INDEX outbox_waiting ON outbox (next_try_at) WHERE delivered_at IS NULL AND failed_at IS NULL",
        "CREATE TABLE downstreams (name TEXT PRIMARY KEY, first_run_at TEXT NOT NULL) STRICT",
    ):
        db.execute(table)


def m003_posts(db: "Database") -> None:
    """Add where the first message about a finding stands, so that later ones follow it."""
    db.execute(
        """
        CREATE TABLE posts (
            key TEXT NOT NULL,
            channel TEXT NOT NULL,
            place TEXT NOT NULL,
            PRIMARY KEY (key, channel)
        ) STRICT, WITHOUT ROWID
        """
    )


def m004_service(db: "Database") -> None:
    """Add what the service goes by: when what was looked at, what downstreams held, how upstreams stand."""
    for change in (
        """
        CREATE TABLE looks (
            subject TEXT PRIMARY KEY,
            at TEXT NOT NULL,
            not_before TEXT
        ) STRICT, WITHOUT ROWID
        """,
        """
        CREATE TABLE readings (
            downstream TEXT PRIMARY KEY,
            at TEXT NOT NULL,
            body TEXT NOT NULL CHECK (json_valid(body))
        ) STRICT
        """,
        """
        CREATE TABLE moved_pins (
            id INTEGER PRIMARY KEY,
            at TEXT NOT NULL,
            body TEXT NOT NULL CHECK (json_valid(body))
        ) STRICT
        """,
        "CREATE INDEX moved_pins_by_time ON moved_pins (at)",
        """
        CREATE TABLE standings (
            subject TEXT PRIMARY KEY,
            at TEXT NOT NULL,
            body TEXT NOT NULL CHECK (json_valid(body))
        ) STRICT
        """,
        "ALTER TABLE outbox ADD COLUMN finding TEXT",
        "ALTER TABLE outbox ADD COLUMN not_before TEXT",
        "ALTER TABLE outbox ADD COLUMN dropped_at TEXT",
        "UPDATE outbox SET finding = json_extract(payload, '$.finding')",
        "CREATE INDEX outbox_of_a_finding ON outbox (finding)",
        "CREATE INDEX events_by_time ON events (at)",
        "CREATE INDEX moves_by_time ON moves (at)",
    ):
        db.execute(change)


def m005_forges(db: "Database") -> None:
    """Add what forges answered, so that asking again costs them nothing where it is still so."""
    db.execute(
        """
        CREATE TABLE replies (
            address TEXT PRIMARY KEY,
            etag TEXT NOT NULL,
            body BLOB NOT NULL,
            next TEXT NOT NULL,
            at TEXT NOT NULL
        ) STRICT, WITHOUT ROWID
        """
    )


def m006_hosted(db: "Database") -> None:
    """Add what forges said of upstreams' repositories, and by which id each is known."""
    db.execute(
        """
        CREATE TABLE hosted (
            upstream TEXT PRIMARY KEY,
            known TEXT,
            api TEXT NOT NULL,
            id TEXT NOT NULL,
            address TEXT NOT NULL,
            is_archived INTEGER NOT NULL CHECK (is_archived IN (0, 1)),
            is_private INTEGER NOT NULL CHECK (is_private IN (0, 1))
        ) STRICT, WITHOUT ROWID
        """
    )


def m007_conclusions(db: "Database") -> None:
    """Add what tells that an upstream said the same again, and what followed from that."""
    db.execute("ALTER TABLE snapshots ADD COLUMN reply TEXT NOT NULL DEFAULT ''")
    db.execute(
        """
        CREATE TABLE conclusions (
            upstream TEXT PRIMARY KEY,
            inputs TEXT NOT NULL,
            body TEXT NOT NULL CHECK (json_valid(body))
        ) STRICT, WITHOUT ROWID
        """
    )


def m008_named(db: "Database") -> None:
    """Add which messages name a finding among others, and an index of what is owed: neither is searched for."""
    for change in (
        """
        CREATE TABLE named (
            finding TEXT NOT NULL,
            message INTEGER NOT NULL REFERENCES outbox (id),
            PRIMARY KEY (finding, message)
        ) STRICT, WITHOUT ROWID
        """,
        """
        INSERT INTO named SELECT DISTINCT it.value, outbox.id
        FROM outbox, json_each(outbox.payload, '$.baseline') AS it WHERE outbox.finding IS NULL
        """,
        """
        CREATE INDEX outbox_owed ON outbox (id)
        WHERE delivered_at IS NULL AND failed_at IS NULL AND dropped_at IS NULL
        """,
    ):
        db.execute(change)


def m009_accounts(db: "Database") -> None:
    """Add what stands behind conclusions, for whoever asks why."""
    db.execute(
        """
        CREATE TABLE accounts (
            upstream TEXT PRIMARY KEY,
            body TEXT NOT NULL CHECK (json_valid(body))
        ) STRICT, WITHOUT ROWID
        """
    )


def m010_touched(db: "Database") -> None:
    """Add which rows were written since when, for whoever reads again and again what pages show.

    The newest note of a row alone stays. The first row names the database itself.
    """
    for change in (
        "CREATE TABLE touched (id INTEGER PRIMARY KEY, sort TEXT NOT NULL, name TEXT NOT NULL) STRICT",
        "CREATE INDEX touched_by_name ON touched (sort, name)",
        "INSERT INTO touched (sort, name) VALUES ('database', hex(randomblob(16)))",
        """
        CREATE TRIGGER touched_once AFTER INSERT ON touched BEGIN
        DELETE FROM touched WHERE sort = NEW.sort AND name = NEW.name AND id < NEW.id; END
        """,
        *_touching("readings", "downstream", "INSERT", "UPDATE", "DELETE"),
        *_touching("standings", "subject", "INSERT", "UPDATE", "DELETE"),
        *_touching("findings", "key", "INSERT", "UPDATE"),
    ):
        db.execute(change)


def _touching(table: str, key: str, *events: str) -> Iterator[str]:
    """Yield the triggers that note what is written to a table; where each word is one more page that can be damaged."""
    for event in events:
        row = "OLD" if event == "DELETE" else "NEW"
        note = f"INSERT INTO touched VALUES (NULL, '{table}', {row}.{key})"  # noqa: S608 - our own names
        yield f"CREATE TRIGGER {table}_{event} AFTER {event} ON {table} BEGIN {note}; END"


STEPS = (
    m001_upstreams,
    m002_lifecycle,
    m003_posts,
    m004_service,
    m005_forges,
    m006_hosted,
    m007_conclusions,
    m008_named,
    m009_accounts,
    m010_touched,
)
"""Every step, in order; their names are what a database remembers."""


def migrations() -> "Migrations":
    """Return the steps for sqlite-utils, which takes each in a transaction with the note that it was taken."""
    from sqlite_utils import Migrations  # noqa: PLC0415 - large, and needed for a new version's first start alone

    steps = Migrations("watcher")
    for step in STEPS:
        steps()(step)
    return steps
