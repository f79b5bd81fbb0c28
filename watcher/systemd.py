"""Tell systemd how the service is, where it was started by it.

The protocol: https://www.freedesktop.org/software/systemd/man/latest/sd_notify.html
"""

import os
import socket
from contextlib import suppress


def notify(state: str) -> None:
    """Send a state such as READY=1, STOPPING=1 or WATCHDOG=1; elsewhere, and where nobody listens, do nothing."""
    address = os.environ.get("NOTIFY_SOCKET", "")
    if not address.startswith(("/", "@")):
        return
    if address.startswith("@"):  # a name without a file
        address = "\0" + address[1:]
    with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as way:
        way.sendto(state.encode(), address)


def watchdog() -> float | None:
    """Return how often systemd wants a sign of life, in seconds, half of what it waits; None where it wants none."""
    waits = os.environ.get("WATCHDOG_USEC", "")
    is_ours = os.environ.get("WATCHDOG_PID", str(os.getpid())) == str(os.getpid())
    return int(waits) / 2_000_000 if waits.isdigit() and int(waits) and is_ours else None
