"""Turn config.yaml into `Settings`, or into one error that says what is wrong on which lines."""

from watcher.config.fields import DigestTime
from watcher.config.glob import is_match
from watcher.config.reading import DEFAULT, load, schema
from watcher.config.secret import Secret
from watcher.config.settings import (
    SMALLEST,
    Downstream,
    DriftPolicy,
    Email,
    Manifest,
    Patience,
    Pattern,
    PinSetting,
    Schedule,
    Settings,
    Slack,
    Tolerance,
    Upstream,
)

__all__ = [
    "DEFAULT",
    "SMALLEST",
    "DigestTime",
    "Downstream",
    "DriftPolicy",
    "Email",
    "Manifest",
    "Patience",
    "Pattern",
    "PinSetting",
    "Schedule",
    "Secret",
    "Settings",
    "Slack",
    "Tolerance",
    "Upstream",
    "is_match",
    "load",
    "schema",
]
