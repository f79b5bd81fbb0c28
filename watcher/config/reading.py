"""Read the file: text to document to `Settings`, all mistakes told at once."""

from pathlib import Path
from typing import Any

from pydantic import ValidationError

from watcher.config.document import Document, parse
from watcher.config.mistakes import Context, explain
from watcher.config.settings import Settings
from watcher.errors import ConfigError

DEFAULT = Path("config.yaml")
"""Where the configuration is looked for: in the working folder."""

_LARGEST = 16 * 1024 * 1024


def load(path: Path) -> Settings:
    """Read and check the configuration; raise ConfigError with one line `path:line: …` a mistake."""
    document = parse(str(path), _text(path))
    context = Context(folder=path.absolute().parent)
    mistakes = list(document.mistakes)
    try:
        settings = Settings.model_validate({} if document.data is None else document.data, context=context)
    except ValidationError as error:
        mistakes += explain(error, document, context)
    if mistakes:
        # From None: pydantic's own error carries the input along, secrets and all.
        raise ConfigError("\n".join(f"{path}:{line}: {message}" for line, message in sorted(set(mistakes)))) from None
    _place_pins(settings, document)
    return settings


def schema() -> dict[str, Any]:
    """Return the JSON Schema of the configuration, for editors."""
    from watcher.config.described import described  # noqa: PLC0415 - large, and only editors ask for it

    return described()


def _text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            content = file.read(_LARGEST + 1)
        text = content.decode("utf-8-sig")
    except FileNotFoundError:
        raise ConfigError(
            f"{path}:1: expected a configuration, found no such file; write one (README.md shows an example, "
            "`watcher config schema` lists every key), or name another with --config"
        ) from None
    except OSError as error:
        raise ConfigError(f"{path}:1: expected a readable file, found: {error.strerror}") from error
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ConfigError(
            f"{path}:{line}: expected text in UTF-8, found the byte {content[error.start]:#04x}"
        ) from None
    if len(content) > _LARGEST:
        raise ConfigError(f"{path}:1: expected at most {_LARGEST // 1024 // 1024} MiB, found more")
    return text


def _place_pins(settings: Settings, document: Document) -> None:
    """Tell each pin on which line its ref stands."""
    for index, pin in enumerate(settings.pins):
        pin._line = document.line(("pins", index, "ref"))  # noqa: SLF001 - only the reader knows, and only once
