"""Make an authority of our own, and a certificate for loopback that it signed."""

from dataclasses import dataclass
from pathlib import Path

import trustme


@dataclass(frozen=True, slots=True, kw_only=True)
class Certificates:
    """Files in PEM."""

    authority: Path
    """What clients are told to trust."""
    server: Path
    """Key and chain for 127.0.0.1 and localhost."""


def certificates(folder: Path) -> Certificates:
    """Write both files into a folder."""
    made = Certificates(authority=folder / "authority.pem", server=folder / "server.pem")
    authority = trustme.CA()
    authority.cert_pem.write_to_path(made.authority)
    authority.issue_cert("127.0.0.1", "localhost").private_key_and_cert_chain_pem.write_to_path(made.server)
    return made
