"""Turn config.yaml into `Settings`, or into one error that says what is wrong on which lines."""

from watcher.config.fields import DigestTime, Endpoint, QuietHours
from watcher.config.glob import is_match
from watcher.config.reading import DEFAULT, load, schema
from watcher.config.secret import Secret
from watcher.config.settings import (
    DIGEST,
    OWN,
    SMALLEST,
    Downstream,
    DriftPolicy,
    Email,
    Http,
    Manifest,
    Patience,
    Pattern,
    PinSetting,
    Route,
    Schedule,
    Settings,
    Slack,
    Tolerance,
    Upstream,
)

__all__ = [
    "DEFAULT",
    "DIGEST",
    "OWN",
    "SMALLEST",
    "DigestTime",
    "Downstream",
    "DriftPolicy",
    "Email",
    "Endpoint",
    "Http",
    "Manifest",
    "Patience",
    "Pattern",
    "PinSetting",
    "QuietHours",
    "Route",
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
