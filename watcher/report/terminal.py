"""Put text into two columns of a terminal: labels left, words right, wrapped under themselves."""

from io import StringIO

from rich.console import Console
from rich.text import Text

_INDENT = 10


def paper(width: int, *, color: bool) -> tuple[Console, StringIO]:
    """Return a console that writes to a text, whatever the terminal is, and that text."""
    out = StringIO()
    console = Console(
        file=out,
        width=width,
        force_terminal=color,
        color_system="standard" if color else None,
        highlight=False,
        markup=False,
        emoji=False,
    )
    return console, out


def put(console: Console, text: Text, *, label: Text | None = None, mark: str = "", deeper: int = 0) -> None:
    """Print text in the right-hand column, wrapped under itself; `label` stands left of it, `mark` before it."""
    indent = _INDENT + deeper + len(mark)
    text.end = ""
    for number, part in enumerate(text.wrap(console, console.width - indent)):
        part.rstrip()
        first = Text((label.plain if label else "").ljust(_INDENT + deeper), style=label.style if label else "")
        left = Text.assemble(first, (mark, "green")) if number == 0 else Text(" " * indent)
        console.print(Text.assemble(left, part), soft_wrap=True)
