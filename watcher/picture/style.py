"""How pictures look: the colours of all pages, and what each class of a drawing has of them."""

import re
from functools import cache
from importlib.resources import files

_COLOUR = re.compile(r"--(\w+): (#[0-9a-f]{6});")
_USE = re.compile(r"var\(--(\w+)\)")


@cache
def sheets() -> tuple[str, str]:
    """Return the style sheet of the colours, and that of pictures, which refers to them."""
    folder = files("watcher.picture")
    colours, picture = ((folder / name).read_text(encoding="utf-8") for name in ("colours.css", "picture.css"))
    return colours, picture


@cache
def plain() -> str:
    """Return the style sheet of pictures in the light colours, without variables: not everybody knows those."""
    colours, picture = sheets()
    light = dict(_COLOUR.findall(colours.partition("@media")[0]))
    return _USE.sub(lambda use: light[use[1]], picture)
