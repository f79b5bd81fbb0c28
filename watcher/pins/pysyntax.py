"""The grammar of Python, for programs and for files that are written like one."""

import ast
import warnings

_MARKS = "\n,.:;()[]{}=+-*/%<>|&^~'\""
_MOST = 200_000
"""Marks that a program may have: the parser cannot be interrupted, and takes a second for as many at the worst."""


def parsed(text: str) -> ast.Module | SyntaxError | None:
    """Return the tree of a program, or why there is none; None where it is too deep or too much."""
    if sum(map(text.count, _MARKS)) > _MOST:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except SyntaxError as error:
        return error
    except (RecursionError, MemoryError, ValueError):
        return None
