"""What all pages have in common: the frame around them, and how they are written."""

from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from functools import cache
from importlib.resources import files

from jinja2 import Environment, PackageLoader, StrictUndefined

from watcher.picture.style import sheets
from watcher.report.digest import lasting


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """Where a page stands, and when it is told."""

    root: str
    """What leads from the page to the folder of the board: empty, or `../`."""
    current: str
    """The entry of the navigation that it is; empty for none of them."""
    at: datetime | None
    """When something was last looked at."""
    now: datetime
    zone: tzinfo
    version: str
    is_copy: bool = False
    """Whether the pages are files, which no server filters."""


def render(template: str, frame: Frame, **values: object) -> str:
    """Return a page, of which every text from outside is escaped."""
    return _environment().get_template(template).render(frame=frame, **values)


@cache
def style() -> str:
    """Return the one style sheet of all pages."""
    folder = files("watcher.pages") / "static"
    return "".join(
        [*sheets(), *((folder / name).read_text(encoding="utf-8") for name in ("style.css", "argument.css"))]
    )


@cache
def script() -> str:
    """Return the script that filters the board of a copy; pages that are served have none."""
    return (files("watcher.pages") / "static" / "filter.js").read_text(encoding="utf-8")


@cache
def _environment() -> Environment:
    made = Environment(
        loader=PackageLoader("watcher.pages"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {"lasting": lasting, "moment": lambda at: f"{at.astimezone(UTC):%Y-%m-%d %H:%M} UTC"}
    return made
