"""Pages for people: functions of values, which ask nobody and read nothing."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """What is shown at one address."""

    body: bytes
    media_type: str
    status: int = 200
    """Of HTTP: another where what was asked for is wrong, or not there."""
