"""What forges answered, by address, so that the next question can be whether it is still so."""

import zlib
from dataclasses import dataclass
from datetime import datetime

from watcher.store.database import Database
from watcher.store.rows import stamp


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """One answer of a forge."""

    etag: str
    """Under what name the forge knows this version of the answer."""
    body: str
    """JSON, exactly as it was sent."""
    next: str
    """The query of the page after this one; empty for the last."""


class Replies(Database):
    """The memory of what forges answered; no token is in it."""

    def reply(self, address: str) -> Kept | None:
        """Return what an address answered last."""
        row = self._row("SELECT etag, body, next FROM replies WHERE address = ?", address)
        return None if row is None else Kept(etag=row[0], body=zlib.decompress(row[1]).decode(), next=row[2])

    def keep_reply(self, address: str, kept: Kept, at: datetime) -> None:
        """Keep an answer in place of the one before; packed, since forges say much of which little is read."""
        self._write(
            "INSERT INTO replies (address, etag, body, next, at) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO UPDATE"
            " SET etag = excluded.etag, body = excluded.body, next = excluded.next, at = excluded.at",
            *(address, kept.etag, zlib.compress(kept.body.encode()), kept.next, stamp(at)),
        )

    def forget_replies(self, before: datetime) -> None:
        """Forget the answers that were kept before a time: to ask anew costs one request each."""
        self._write("DELETE FROM replies WHERE at < ?", stamp(before))
