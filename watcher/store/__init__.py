"""What the watcher remembers between two passes: one SQLite database in the state folder.

`upstreams` holds what upstreams showed, `lifecycle` what became of findings and the messages that are owed for it,
`standings` what the service goes by, `replies` what forges answered;
`schema` is the tables, `rows` how values are written, `database` the file itself, `damage` and `carrying` what becomes
of one that cannot be read.
"""

from watcher.store.lifecycle import Lifecycle, Message, Owed
from watcher.store.replies import Kept, Replies
from watcher.store.standings import Look, Mark, Standings
from watcher.store.upstreams import Upstreams

__all__ = ["Kept", "Look", "Mark", "Message", "Owed", "Replies", "Store"]


class Store(Upstreams, Lifecycle, Standings, Replies):
    """The memory of one state folder, for one thread.

    Whatever belongs to one pass is written inside one `with store.atomic():`. What is read there is what nobody else
    can change before the block ends: load findings, reconcile and commit them in the same block, or an acknowledgement
    from another process in between is lost.
    """
