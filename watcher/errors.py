"""Every exception that `watcher` raises on purpose.

WatcherError
├── ConfigError        config.yaml is wrong: file, line, what was expected
├── UsageError         the command line names something that is not there
├── UnobservedError    what was asked about could not be looked at
├── GitError           the git program failed; `.retryable` says whether trying again can help
├── EditError          a manifest cannot be edited as asked; nothing was written
├── DeliveryError      a message could not be sent; `.again` and `.is_final` say what to do with it
├── ForgeError         a forge refuses or cannot answer; `.kind` says why, `.again` when to ask again
├── CommitGraphError   (commitgraph.py) git's table of commits is broken; its history is read from git instead
└── StoreError         the state database cannot be used: locked, full, not writable, from a newer version
    └── DamagedError   what is in it cannot be read; it is set aside and made anew when it is opened next

Expected trouble with an upstream is no exception but a value: `model.Unobserved`.
"""

from datetime import timedelta
from typing import Literal


class WatcherError(Exception):
    """Root of the tree: the command line turns one into one clear line and an exit code."""


class ConfigError(WatcherError):
    """The configuration is wrong; the message starts with `path:line:`."""


class UsageError(WatcherError):
    """The command line names something that is not there."""


class UnobservedError(WatcherError):
    """What was asked about could not be looked at: neither a yes nor a no."""


class GitError(WatcherError):
    """The git program failed.

    `retryable` is true where the same call may work later (network, lock), false where it will not (unknown object).
    `said` is all that git printed about it, of which the message is the most telling line.
    """

    def __init__(self, message: str, *, retryable: bool = False, returncode: int | None = None, said: str = "") -> None:
        super().__init__(message)
        self.retryable = retryable
        self.returncode = returncode
        self.said = said


class EditError(WatcherError):
    """A manifest cannot be edited as asked; the message says where and what to do instead, and nothing was written."""


class DeliveryError(WatcherError):
    """A message could not be sent.

    `again` is how long to wait before the next try, None for the usual; `is_final` is true where no try can help.
    """

    def __init__(self, message: str, *, again: timedelta | None = None, is_final: bool = False) -> None:
        super().__init__(message)
        self.again = again
        self.is_final = is_final


class ForgeError(WatcherError):
    """A forge refuses, or cannot answer; the message says what a person can do about it.

    `kind` is `unauthorised` (no token, or a wrong one), `forbidden` (the token may not), `missing` (or private),
    `archived`, `protected` (a branch), `duplicate`, `limited` (asked too often), `busy` (it may work later) or `unfit`
    (it can never work as it was asked). `again` is how long to wait, where that is told.
    """

    def __init__(
        self,
        message: str,
        *,
        kind: Literal[
            "unauthorised", "forbidden", "missing", "archived", "protected", "duplicate", "limited", "busy", "unfit"
        ],
        again: timedelta | None = None,
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.again = again


class StoreError(WatcherError):
    """The state database cannot be used; nothing in it was changed."""


class DamagedError(StoreError):
    """What is in the state database cannot be read: neither a lock nor a full disk, but damage."""
