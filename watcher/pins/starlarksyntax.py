"""The syntax of a Python-like file: its trees, also where it is broken, and the lines of its strings."""

import ast
import io
import re
import tokenize
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from watcher.pins.format import Broken
from watcher.pins.pysyntax import parsed
from watcher.pins.text import Place, Text, joined, written

_MOST = 2_000


def trees(path: str, text: str) -> Iterator[ast.Module | Broken]:
    """Yield the parsed file; where it is no Python, those of its top-level statements that are."""
    tree = _tree(text)
    if isinstance(tree, ast.Module):
        yield tree
        return
    yield Broken(file=path, line=tree.line, reason=tree.reason)
    for start, chunk in _chunks(text):
        part = _tree(chunk)
        if isinstance(part, ast.Module):
            ast.increment_lineno(part, start)
            yield part


@dataclass(frozen=True, slots=True)
class _Wrong:
    line: int
    reason: str


def _tree(text: str) -> ast.Module | _Wrong:
    tree = parsed(text)
    if isinstance(tree, SyntaxError):
        return _Wrong(tree.lineno or 1, f"expected Python syntax: {tree.msg}")
    return tree or _Wrong(1, "expected Python syntax: nested too deeply, too large or no text")


def _chunks(text: str) -> Iterator[tuple[int, str]]:
    """Cut a file where a line begins with a word: each piece with the number of lines before it."""
    lines = text.split("\n")
    starts = [at for at, line in enumerate(lines) if re.match(r"[A-Za-z_@]", line)]
    for at, start in enumerate(starts[:_MOST]):
        end = starts[at + 1] if at + 1 < len(starts) else len(lines)
        yield start, "\n".join(lines[start:end])


def string(node: ast.Constant, path: str, lines: Sequence[str]) -> Text:
    """Return a string of a file with these lines."""
    place, value = Place(path, node.lineno), str(node.value)
    end = node.end_lineno or node.lineno
    if end == node.lineno:
        return written(value, *place)
    source = "\n".join(lines[place.line - 1 : end])
    return _spread(source, node, value, place) or written(value, *place)


def _spread(source: str, node: ast.Constant, value: str, place: Place) -> Text | None:
    """Read a string that is written over several lines, each part at its own."""
    parts: list[Text] = []
    length = 0
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for token in tokenize.generate_tokens(io.StringIO("(" + source[_column(source, node) :]).readline):
                if token.type == tokenize.STRING:
                    content = str(ast.literal_eval(token.string))
                    parts.append(written(content, place.file, place.line + token.start[0] - 1))
                    length += len(content)
                if length >= len(value):
                    break
    except (tokenize.TokenError, SyntaxError, ValueError, MemoryError, RecursionError):
        return None
    text = joined(parts)
    return text if text.chars == value else None


def _column(source: str, node: ast.Constant) -> int:
    """Return where the string begins in its first line; `ast` counts bytes."""
    return len(source.encode()[: node.col_offset].decode(errors="replace"))
