"""Words are laid out as `rich` lays them out, in colours and without, however wide their characters are."""

import io
import textwrap

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from watcher.report.terminal import NARROW, Paper, Piece, put, wrapped
from watcher.report.text import safe

STYLES = ["", "bold", "dim", "cyan", "bold white on red"]
WORDS = st.text(alphabet="ab  -…é漢😀\u0301\u00a0", max_size=80).map(safe)
PIECES = st.lists(st.tuples(WORDS, st.sampled_from(STYLES)), max_size=4)


def by_rich(pieces: list[Piece], width: int, *, color: bool) -> str:
    """Return the same lines, as rich makes them."""
    out = io.StringIO()
    console = Console(
        file=out, width=width, force_terminal=color, color_system="standard" if color else None, highlight=False
    )
    left = Text.assemble(("HIGH      ", "bold red"), ("• ", "green"))
    for part in Text.assemble(*pieces, end="").wrap(console, width - 12, overflow="fold"):
        part.rstrip()
        console.print(Text.assemble(left, part), soft_wrap=True)
        left = Text(" " * 12)
    return out.getvalue()


@pytest.mark.parametrize("color", [False, True])
@given(pieces=PIECES, width=st.integers(60, 120))
def test_layout(pieces, width, color):
    """Lines break where rich breaks them, and are coloured as rich colours them; words that no line holds apart."""
    assume(all(len(word) <= width - 12 for word in "".join(text for text, _ in pieces).split(" ")))
    paper = Paper(width, color=color)
    put(paper, *pieces, label=("HIGH", "bold red"), mark="• ")
    assert by_rich(pieces, width, color=color) == paper.text


@given(text=st.text("ab ", min_size=1, max_size=40).map(str.lstrip), width=st.integers(1, 12))
def test_lines_break_as_by_textwrap(text, width):
    """Whatever the words and the width are."""
    options = {"break_long_words": False, "break_on_hyphens": False}
    assert (textwrap.wrap(text, width, **options) or [""]) == wrapped(text, width)


def test_what_is_taken_for_narrow():
    """Is one column wide, each character alone."""
    narrow = [char for char in map(chr, range(0x3000)) if NARROW.fullmatch(char)]
    assert 500 < len(narrow)
    assert {1} == {cell_len(char) for char in narrow}


@pytest.mark.parametrize("color", [False, True])
def test_a_word_is_never_broken(color):
    """What is to be copied, an id or an address, stays in one piece."""
    paper = Paper(60, color=color)
    paper.line(("x" * 100, ""))
    put(paper, (f"see {'y-' * 50}", ""))
    assert "x" * 100 in paper.text
    assert "y-" * 50 in paper.text
