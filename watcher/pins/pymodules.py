"""What a Python program imports from other files of its checkout."""

import ast
import posixpath
import sys
from collections.abc import Callable

from watcher.pins.checkout import Checkout
from watcher.pins.pysyntax import parsed
from watcher.pins.pyvalues import Names

_MODULES = 8
"""How many other files of the checkout are read for the functions that are imported from them."""
_LARGEST_MODULE = 300_000


class Modules:
    """Finds the names of a module; `definitions` follows its file as far as it defines something."""

    def __init__(self, checkout: Checkout, file: str, definitions: Callable[[str, str, ast.Module], Names]) -> None:
        self._checkout = checkout
        self._file = file
        self._definitions = definitions
        self._names: dict[str, Names | None] = {}
        self._paths: dict[tuple[str, str], str | None] = {}

    def names(self, name: str, beside: str) -> Names | None:
        """Return the names of a module of the checkout, as a file imports it; None for any other."""
        key = (name, posixpath.dirname(beside))
        if key not in self._paths:
            self._paths[key] = self._path(name, beside)
        path = self._paths[key]
        if path is None or path == self._file:
            return None
        if path not in self._names:
            self._names[path] = None
            if len(self._names) <= _MODULES and len(self._checkout.texts[path]) <= _LARGEST_MODULE:
                self._names[path] = self._read(path)
        return self._names[path]

    def _path(self, name: str, beside: str) -> str | None:
        level = len(name) - len(name.lstrip("."))
        tail = name.lstrip(".").replace(".", "/")
        if not tail or (not level and name.partition(".")[0] in sys.stdlib_module_names):
            return None
        if not level:
            return self._checkout.find(f"{tail}.py", beside) or self._checkout.find(f"{tail}/__init__.py", beside)
        folder = beside
        for _ in range(level):
            folder = posixpath.dirname(folder)
        path = posixpath.join(folder, f"{tail}.py")
        return path if path in self._checkout.texts else None

    def _read(self, path: str) -> Names | None:
        text = self._checkout.texts[path]
        tree = parsed(text)
        return self._definitions(path, text, tree) if isinstance(tree, ast.Module) else None
