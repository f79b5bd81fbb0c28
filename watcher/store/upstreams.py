"""What upstreams showed: refs, their moves, who held which pinned commit, failed looks, identity, facts of landings."""

import json
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from watcher.model import Advertisement, Handshake, Holding, Hosted, Identity, Move, Oid, Patience, Ref, Unobserved, oid
from watcher.store.database import Database
from watcher.store.rows import json_text, restored, stamp, stamp_or_none, storable, time, time_or_none

_HOSTED = "SELECT upstream, known, api, id, address, is_archived, is_private FROM hosted"
_Row = tuple[str, int, str, str, str | None]
"""Of the table of refs: the upstream, whether it is a pull ref, name, oid, and what it peels to."""


class Upstreams(Database):
    """The memory of upstreams. Every address is a normalised one."""

    # --- refs: the last advertisement, and every move there ever was ------------------------------------------------

    def snapshot(self, upstream: str) -> Advertisement | None:
        """Return the last advertisement, or None where there was none yet."""
        row = self._row(
            "SELECT head, digest, object_format, filters, moved_to, reply FROM snapshots WHERE upstream = ?", upstream
        )
        if row is None:
            return None
        head, digest, object_format, filters, moved_to, reply = row
        return Advertisement(
            refs=self._refs(upstream, is_pull=False),
            head=None if head is None else restored(head),
            digest=digest,
            object_format=object_format,
            filters=bool(filters),
            moved_to=moved_to,
            pulls=self._refs(upstream, is_pull=True),
            reply=reply,
        )

    def handshakes(self) -> dict[str, Handshake]:
        """Return upstream → what to remember of its last answer, without the refs."""
        rows = self._rows("SELECT upstream, object_format, filters, reply, moved_to FROM snapshots")
        return {
            name: Handshake(object_format=object_format, filters=bool(filters), reply=reply, moved_to=moved_to)
            for name, object_format, filters, reply, moved_to in rows
        }

    def last_seen(self, upstream: str) -> datetime | None:
        """Return when the upstream was last observed."""
        row = self._row("SELECT last_seen FROM snapshots WHERE upstream = ?", upstream)
        return None if row is None else time(row[0])

    def record_snapshot(self, upstream: str, advertisement: Advertisement, at: datetime) -> None:
        """Keep the advertisement of one upstream; see `record_snapshots`."""
        self.record_snapshots({upstream: advertisement}, at)

    def record_snapshots(self, seen: Mapping[str, Advertisement], at: datetime) -> None:
        """Keep advertisements in place of the last ones; where the digest is the same, the refs are not written."""
        with self.atomic():
            known = dict(self._rows("SELECT upstream, digest FROM snapshots"))
            self._write_heads(seen, at)
            self._write_refs(row for name, it in seen.items() if name not in known for row in _rows_of(name, it))
            for name, it in seen.items():
                if name not in known:
                    continue
                if known[name] != it.digest:
                    self._change_refs(name, it.refs, is_pull=False)
                # The digest does not speak of pull refs: they are asked for only when a pin needs them.
                self._change_refs(name, it.pulls, is_pull=True)

    def touch(self, upstreams: Iterable[str], at: datetime) -> None:
        """Note that upstreams were observed, and were as at the look before: the refs that held pins then still do."""
        seen = [(stamp(at), name) for name in upstreams]
        self._write_all(
            """
            UPDATE holdings SET last_seen = ?1 WHERE upstream = ?2 AND last_seen < ?1
            AND last_seen = (SELECT last_seen FROM snapshots WHERE upstream = ?2)
            """,
            seen,
        )
        self._write_all("UPDATE snapshots SET last_seen = ?1 WHERE upstream = ?2 AND last_seen < ?1", seen)

    # --- what followed from an advertisement -------------------------------------------------------------------------

    def conclusion(self, upstream: str, inputs: str) -> str | None:
        """Return what followed from the last advertisement and these inputs; None where that is not known.

        Nor where nobody kept what stands behind it: an earlier version did not, and then it is worked out anew.
        """
        row = self._row(
            "SELECT c.body FROM conclusions AS c JOIN accounts AS a USING (upstream) WHERE upstream = ? AND inputs = ?",
            upstream,
            inputs,
        )
        return None if row is None else str(row[0])

    def record_conclusion(self, upstream: str, inputs: str, body: str, account: str) -> None:
        """Keep what followed, and what stands behind it.

        `inputs` are empty where it may be otherwise at the next look, though the refs are the same.
        """
        self._write(
            "INSERT OR REPLACE INTO conclusions (upstream, inputs, body) VALUES (?, ?, ?)", upstream, inputs, body
        )
        self._write("INSERT OR REPLACE INTO accounts (upstream, body) VALUES (?, ?)", upstream, account)

    def forget_conclusions(self, but: Container[str]) -> None:
        """Forget what followed for upstreams that nothing is pinned to any more."""
        gone = [(name,) for (name,) in self._rows("SELECT upstream FROM conclusions") if name not in but]
        self._write_all("DELETE FROM conclusions WHERE upstream = ?", gone)
        self._write_all("DELETE FROM accounts WHERE upstream = ?", gone)

    def accounted(self, upstream: str) -> tuple[str, str] | None:
        """Return what followed from the last look, settled or not, and what stands behind it; None where none is."""
        row = self._row(
            "SELECT c.body, a.body FROM conclusions AS c JOIN accounts AS a USING (upstream) WHERE upstream = ?",
            upstream,
        )
        return None if row is None else (str(row[0]), str(row[1]))

    def moves(self, upstream: str, ref: str | None = None) -> tuple[Move, ...]:
        """Return every recorded move, oldest first; of one ref, if it is named."""
        asked = "SELECT ref, before, after, forced, at FROM moves WHERE upstream = ?"
        if ref is None:
            rows = self._rows(f"{asked} ORDER BY id", upstream)
        else:
            rows = self._rows(f"{asked} AND ref = ? ORDER BY id", upstream, storable(ref))
        return tuple(
            Move(
                ref=restored(name),
                before=_oid_or_none(before),
                after=_oid_or_none(after),
                forced=None if forced is None else bool(forced),
                at=time(at),
            )
            for name, before, after, forced, at in rows
        )

    def moves_since(self, since: datetime) -> dict[str, tuple[Move, ...]]:
        """Return upstream → the moves from a moment on, oldest first."""
        asked = "SELECT DISTINCT upstream FROM moves WHERE at >= ? ORDER BY upstream"
        names = [name for (name,) in self._rows(asked, stamp(since))]
        return {name: tuple(move for move in self.moves(name) if move.at >= since) for name in names}

    def record_moves(self, upstream: str, moves: Iterable[Move]) -> None:
        """Add moves to the log."""
        self._write_all(
            "INSERT INTO moves (upstream, ref, before, after, forced, at) VALUES (?, ?, ?, ?, ?, ?)",
            [(upstream, storable(move.ref), move.before, move.after, move.forced, stamp(move.at)) for move in moves],
        )

    # --- the ledger: which refs held a pinned commit ----------------------------------------------------------------

    def holdings(self, upstream: str, commit: Oid) -> tuple[Holding, ...]:
        """Return every ref that was ever seen holding a commit, by name."""
        rows = self._rows(
            "SELECT ref, first_seen, last_seen, tip FROM holdings WHERE upstream = ? AND held = ? ORDER BY ref",
            upstream,
            commit,
        )
        return tuple(
            Holding(ref=restored(ref), first_seen=time(first), last_seen=time(last), tip=oid(tip))
            for ref, first, last, tip in rows
        )

    def ledger(self, upstream: str) -> dict[Oid, tuple[Holding, ...]]:
        """Return commit → the refs that were ever seen holding it, for every commit that was ever pinned."""
        held = self._rows("SELECT DISTINCT held FROM holdings WHERE upstream = ? ORDER BY held", upstream)
        return {oid(commit): self.holdings(upstream, oid(commit)) for (commit,) in held}

    def record_holdings(self, upstream: str, commit: Oid, refs: Iterable[Ref], at: datetime) -> None:
        """Write down the refs that hold a commit now; a ref that held it before has its row extended.

        Rows are never removed: a ref that no longer holds the commit is simply not written again.
        """
        seen = stamp(at)
        self._write_all(
            """
            INSERT INTO holdings (upstream, held, ref, first_seen, last_seen, tip) VALUES (?, ?, ?, ?, ?, ?)
            ON CONFLICT DO UPDATE SET last_seen = excluded.last_seen, tip = excluded.tip
            WHERE excluded.last_seen > holdings.last_seen
            """,
            [(upstream, commit, storable(ref.name), seen, seen, ref.commit) for ref in refs],
        )

    # --- failed looks ------------------------------------------------------------------------------------------------

    def patience(self, upstream: str) -> Patience | None:
        """Return how long the upstream could not be observed, or None where the last look was a good one."""
        row = self._row(
            "SELECT tries, since, missing_tries, missing_since, last_reason, is_missing"
            " FROM failed_looks WHERE upstream = ?",
            upstream,
        )
        if row is None:
            return None
        tries, since, missing_tries, missing_since, last_reason, is_missing = row
        return Patience(
            tries=tries,
            since=time(since),
            missing_tries=missing_tries,
            missing_since=time_or_none(missing_since),
            last_reason=last_reason,
            is_missing=bool(is_missing),
        )

    def failures(self) -> dict[str, Patience]:
        """Return every upstream whose last look failed, with how long it could not be observed."""
        names = [name for (name,) in self._rows("SELECT upstream FROM failed_looks ORDER BY upstream")]
        return {name: patience for name in names if (patience := self.patience(name))}

    def forget_failures(self, but: Container[str]) -> None:
        """Forget the failed looks at upstreams that nothing is pinned to any more."""
        gone = [name for (name,) in self._rows("SELECT upstream FROM failed_looks") if name not in but]
        self._write_all("DELETE FROM failed_looks WHERE upstream = ?", [(name,) for name in gone])

    def forget_failures_of(self, upstreams: Iterable[str]) -> None:
        """Forget the failed looks at upstreams that were observed now."""
        self._write_all("DELETE FROM failed_looks WHERE upstream = ?", [(name,) for name in upstreams])

    def activity(self) -> dict[str, tuple[datetime, datetime]]:
        """Return upstream → when it was last seen to change, and when it was last observed."""
        found = self._rows("SELECT upstream, changed_at, last_seen FROM snapshots")
        return {name: (time(changed), time(seen)) for name, changed, seen in found}

    def record_look(self, upstream: str, failure: Unobserved | None, at: datetime) -> Patience | None:
        """Count one look, and return the patience as it is now; None as failure is a good look and ends the count."""
        if failure is None:
            self._write("DELETE FROM failed_looks WHERE upstream = ?", upstream)
            return None
        missing = int(failure.missing)
        self._write(
            """
            INSERT INTO failed_looks (upstream, tries, since, missing_tries, missing_since, last_reason, is_missing)
            VALUES (?, 1, ?, ?, ?, ?, ?)
            ON CONFLICT DO UPDATE SET
                tries = tries + 1,
                missing_tries = missing_tries + excluded.missing_tries,
                missing_since = coalesce(missing_since, excluded.missing_since),
                last_reason = excluded.last_reason,
                is_missing = excluded.is_missing
            """,
            upstream,
            stamp(at),
            missing,
            stamp_or_none(at if missing else None),
            storable(failure.reason),
            missing,
        )
        return self.patience(upstream)

    # --- identity ----------------------------------------------------------------------------------------------------

    def identity(self, upstream: str) -> Identity:
        """Return the root commits and the addresses that the upstream was ever seen with, and what its forge said."""
        rows = self._rows("SELECT sort, value FROM identities WHERE upstream = ?", upstream)
        return _identity(rows, self._row(f"{_HOSTED} WHERE upstream = ?", upstream))

    def identities(self) -> dict[str, Identity]:
        """Return upstream → what `identity` returns, for all of which anything is known."""
        values: dict[str, list[tuple[str, str]]] = {}
        for upstream, sort, value in self._rows("SELECT upstream, sort, value FROM identities"):
            values.setdefault(upstream, []).append((sort, value))
        hosted = {row[0]: row for row in self._rows(_HOSTED)}
        return {name: _identity(values.get(name, ()), hosted.get(name)) for name in values | hosted}

    def record_identity(
        self, upstream: str, at: datetime, *, roots: Iterable[Oid] = (), moved_to: str | None = None
    ) -> None:
        """Add root commits and an address to what is known of an upstream.

        Only of one that was judged to be the same repository: the next one is held against what is written here.
        """
        values: list[tuple[str, str]] = [("root", root) for root in roots]
        if moved_to is not None:
            values.append(("alias", moved_to))
        self._write_all(
            "INSERT INTO identities (upstream, sort, value, first_seen) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
            [(upstream, sort, value, stamp(at)) for sort, value in values],
        )

    def record_hosted(self, upstream: str, said: Hosted, *, is_same: bool) -> None:
        """Keep what a forge said of an upstream in place of what it said before.

        Its id becomes the known one where the repository was judged to be the same, and none is known at that API yet:
        a known id is never overwritten.
        """
        self._write(
            """
            INSERT INTO hosted (upstream, known, api, id, address, is_archived, is_private)
            VALUES (?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT DO UPDATE SET
                known = CASE WHEN api = excluded.api THEN coalesce(known, excluded.known) ELSE excluded.known END,
                api = excluded.api,
                id = excluded.id,
                address = excluded.address,
                is_archived = excluded.is_archived,
                is_private = excluded.is_private
            """,
            upstream,
            said.id if is_same else None,
            said.api,
            said.id,
            said.address,
            said.is_archived,
            said.is_private,
        )

    # --- facts of landings: computed once, true for ever -------------------------------------------------------------

    def fact(self, upstream: str, landing: Oid, kind: str, version: int) -> Mapping[str, Any] | None:
        """Return one fact, or None where it was not computed yet by this version of the computation."""
        row = self._row(
            "SELECT body FROM facts WHERE upstream = ? AND kind = ? AND landing = ? AND version = ?",
            upstream,
            kind,
            landing,
            version,
        )
        return None if row is None else _body(row[0])

    def facts(self, upstream: str, kind: str, version: int) -> Mapping[Oid, Mapping[str, Any]]:
        """Return every fact of a kind, by landing."""
        rows = self._rows(
            "SELECT landing, body FROM facts WHERE upstream = ? AND kind = ? AND version = ?", upstream, kind, version
        )
        return {oid(landing): _body(body) for landing, body in rows}

    def record_facts(self, upstream: str, kind: str, version: int, facts: Mapping[Oid, Mapping[str, Any]]) -> None:
        """Keep facts by landing; they replace those of the same or an older version, never those of a newer one."""
        self._write_all(
            """
            INSERT INTO facts (upstream, kind, landing, version, body) VALUES (?, ?, ?, ?, ?)
            ON CONFLICT DO UPDATE SET version = excluded.version, body = excluded.body
            WHERE excluded.version >= facts.version
            """,
            [(upstream, kind, landing, version, json_text(body)) for landing, body in facts.items()],
        )

    # --- parts -------------------------------------------------------------------------------------------------------

    def _write_heads(self, seen: Mapping[str, Advertisement], at: datetime) -> None:
        """Write everything of advertisements but their refs."""
        now = stamp(at)
        self._write_all(
            """
            INSERT INTO snapshots
                (upstream, head, digest, object_format, filters, moved_to, reply, changed_at, last_seen)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT DO UPDATE SET
                head = excluded.head,
                object_format = excluded.object_format,
                filters = excluded.filters,
                moved_to = excluded.moved_to,
                reply = excluded.reply,
                changed_at = CASE WHEN digest = excluded.digest THEN changed_at ELSE excluded.changed_at END,
                digest = excluded.digest,
                last_seen = excluded.last_seen
            """,
            [
                (
                    upstream,
                    None if it.head is None else storable(it.head),
                    it.digest,
                    it.object_format,
                    it.filters,
                    it.moved_to,
                    it.reply,
                    now,
                    now,
                )
                for upstream, it in seen.items()
            ],
        )

    def _refs(self, upstream: str, *, is_pull: bool) -> tuple[Ref, ...]:
        """Return the kept refs, by name."""
        rows = self._rows("SELECT name, oid, peeled FROM refs WHERE upstream = ? AND is_pull = ?", upstream, is_pull)
        refs = (Ref(name=restored(name), oid=oid(tip), peeled=_oid_or_none(peeled)) for name, tip, peeled in rows)
        return tuple(sorted(refs, key=lambda ref: ref.name))

    def _change_refs(self, upstream: str, refs: Iterable[Ref], *, is_pull: bool) -> None:
        """Keep these refs and no others, writing only those that differ."""
        asked = "SELECT upstream, is_pull, name, oid, peeled FROM refs WHERE upstream = ? AND is_pull = ?"
        known = set(self._rows(asked, upstream, is_pull))
        now = [_row_of(upstream, ref, is_pull=is_pull) for ref in refs]
        self._write_all(
            "DELETE FROM refs WHERE upstream = ? AND is_pull = ? AND name = ?",
            [row[:3] for row in known.difference(now)],
        )
        self._write_refs(row for row in now if row not in known)

    def _write_refs(self, rows: Iterable[_Row]) -> None:
        """Write refs inside a transaction, one by one: none is held in memory."""
        # A server may advertise one name twice; that is no reason to lose the rest of what it said.
        self._db.executemany(
            "INSERT OR REPLACE INTO refs (upstream, is_pull, name, oid, peeled) VALUES (?, ?, ?, ?, ?)", rows
        )


def _identity(values: Iterable[tuple[str, str]], hosted: Sequence[Any] | None) -> Identity:
    """Return an identity: of the values that were seen, each with its sort, and the row of what its forge said."""
    known, said = None, None
    if hosted is not None:
        _, known, api, told, address, is_archived, is_private = hosted
        said = Hosted(api=api, id=told, address=address, is_archived=bool(is_archived), is_private=bool(is_private))
    return Identity(
        roots=frozenset(oid(value) for sort, value in values if sort == "root"),
        aliases=frozenset(value for sort, value in values if sort == "alias"),
        id=known,
        hosted=said,
    )


def _rows_of(upstream: str, said: Advertisement) -> Iterator[_Row]:
    """Yield all refs of an advertisement as they are written."""
    for ref in said.refs:
        yield _row_of(upstream, ref, is_pull=False)
    for ref in said.pulls:
        yield _row_of(upstream, ref, is_pull=True)


def _row_of(upstream: str, ref: Ref, *, is_pull: bool) -> _Row:
    # A number, since the driver has to find out anew of each bool how it is written.
    return upstream, int(is_pull), storable(ref.name), ref.oid, ref.peeled


def _oid_or_none(text: str | None) -> Oid | None:
    """Return the object id in a column that may be empty."""
    return None if text is None else oid(text)


def _body(text: str) -> Mapping[str, Any]:
    """Return the JSON object of a fact."""
    body: Mapping[str, Any] = json.loads(text)
    return body
