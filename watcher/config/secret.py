"""Hold where a secret is kept, never the secret itself."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from watcher.errors import ConfigError

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_CREDENTIAL = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")
PLACES = "env:NAME, file:PATH or credential:NAME"
"""How people write where a secret is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Secret:
    """The place of a secret: an environment variable, a file, or a credential that the service manager hands over."""

    source: Literal["env", "file", "credential"]
    name: str
    """Name of the variable or of the credential, or the absolute path of the file."""

    def __str__(self) -> str:
        return f"{self.source}:{self.name}"

    def reveal(self, environ: Mapping[str, str], read: Callable[[Path], str]) -> str:
        """Return the secret now, without white space around it; raise ConfigError where it is not to be had.

        It is looked up anew each time, so that a rotated token is taken up without a restart. `read` is
        `Path.read_text` outside of tests.
        """
        match self.source:
            case "env":
                value = environ.get(self.name, "").strip()
            case "file":
                value = self._content(Path(self.name), read).strip()
            case "credential":
                value = self._content(self._handed_over(environ), read).strip()
        if not value:
            raise ConfigError(f"expected a secret in {self}, found nothing there")
        return value

    def _handed_over(self, environ: Mapping[str, str]) -> Path:
        """Return the file of a credential (systemd.exec(5), Credentials)."""
        folder = environ.get("CREDENTIALS_DIRECTORY", "")
        if not folder:
            way = "LoadCredential= in the service's unit hands one over"
            raise ConfigError(f"expected a secret in {self}, found no CREDENTIALS_DIRECTORY: {way}")
        return Path(folder, self.name)

    def _content(self, path: Path, read: Callable[[Path], str]) -> str:
        try:
            return read(path)
        except OSError as error:
            raise ConfigError(f"expected a secret in {self}, found: {error.strerror}") from error
        except UnicodeDecodeError:
            # The error would carry the bytes of the file along.
            raise ConfigError(f"expected a secret in {self}, found a file that is not text") from None


def parse_secret(text: str) -> Secret | None:
    """Read `env:NAME`, `file:PATH` or `credential:NAME`; None for anything else, which may be a secret itself."""
    source, _, name = text.partition(":")
    if source == "env" and _NAME.fullmatch(name):
        return Secret(source="env", name=name)
    if source == "credential" and _CREDENTIAL.fullmatch(name):
        return Secret(source="credential", name=name)
    if source == "file" and name.strip() and name.isprintable() and not name.startswith("//"):
        return Secret(source="file", name=name)
    return None
