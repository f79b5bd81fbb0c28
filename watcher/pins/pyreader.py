"""Follow a Python program without running it: which commands it starts, what it lists, what it builds with.

An abstract evaluation: strings are texts that know their lines and may have alternatives; everything that the program
does not tell is unknown. Commands go to the shell reader, so that a clone and the checkout below it mean the same in
both languages.
"""

import ast
from collections.abc import Iterable, Iterator

from watcher.pins.builds import BuildReader, overrides
from watcher.pins.checkout import Checkout
from watcher.pins.pyattention import Attention
from watcher.pins.pyexpressions import evaluated
from watcher.pins.pyfinds import Finds
from watcher.pins.pyframe import Frame
from watcher.pins.pyfunctions import call_function
from watcher.pins.pymodules import Modules
from watcher.pins.pystatements import STATEMENTS
from watcher.pins.pystrings import Literals
from watcher.pins.pyvalues import Func, Names, PyValue
from watcher.pins.scope import Scope
from watcher.pins.sites import Sighting
from watcher.pins.text import Place, unknown
from watcher.pins.tree import inline
from watcher.pins.values import just

_STEPS = 30_000
"""Expressions that one file may cost; beyond them the rest of it is not read."""
_DEEPEST = 60


class _Exhausted(Exception):  # noqa: N818 - a way out, never seen outside
    """The program is too much to follow."""


class PyReader:
    """Follows one file; in a test, requirements that stand for themselves are left out."""

    def __init__(self, checkout: Checkout, file: str, *, is_setup: bool, is_test: bool) -> None:
        self.file = file
        self.shell = BuildReader(checkout)
        self.attention = Attention(Finds(file=file, is_setup=is_setup, is_test=is_test))
        self.modules = Modules(checkout, file, self._definitions)
        self.literals: dict[str, Literals] = {}
        self.options: dict[str, PyValue] = {}
        self.uncalled: dict[int, Func] = {}
        self.active: list[int] = []
        self.is_exhausted = False
        self._checkout = checkout
        self._steps = 0
        self._depth = 0

    def run(self, tree: ast.Module, text: str) -> None:
        """Follow a module, and then the functions that nothing in it calls."""
        frame = self._module(self.file, text)
        try:
            self.block(tree.body, frame)
            while self.uncalled:
                function = self.uncalled.pop(next(iter(self.uncalled)))
                frame.scope.is_alive = True
                call_function(self, function, [], {}, frame)
        except (_Exhausted, RecursionError):
            self.is_exhausted = True

    def finish(self) -> Iterator[Sighting]:
        """Yield what was seen."""
        finds = self.attention.finds
        yield from self.shell.finish()
        yield from finds.sightings()
        yield from overrides([*self.shell.builds, *finds.builds], self._checkout)

    def _module(self, path: str, text: str) -> Frame:
        """Return the frame in which a module starts."""
        self.literals[path] = Literals(text, path)
        cwd = just(unknown("start", Place(path, 1)))
        return Frame(Names({"__file__": just(inline(path, path, 1))}), Scope(cwd=cwd), path)

    def _definitions(self, path: str, text: str, tree: ast.Module) -> Names:
        """Return the names of a module that another one imports."""
        frame = self._module(path, text)
        with self.attention.elsewhere(is_quiet=True, is_defining=True):
            self.block(tree.body, frame)
        return frame.names

    def block(self, body: Iterable[ast.stmt], frame: Frame) -> None:
        """Follow statements one after the other, as long as the scope lives."""
        for statement in body:
            if not frame.scope.is_alive:
                return
            self._step()
            handler = STATEMENTS.get(type(statement))
            if handler is not None:
                handler(self, statement, frame)

    def value(self, node: ast.expr, frame: Frame) -> PyValue:
        """Evaluate an expression; take what it gives."""
        self._step()
        if self._depth > _DEEPEST:
            return None
        self._depth += 1
        try:
            value = evaluated(self, node, frame)
        finally:
            self._depth -= 1
        if isinstance(value, tuple) and isinstance(node, ast.Constant | ast.JoinedStr | ast.BinOp | ast.Call):
            self.attention.take(value, frame.scope.guard)
        return value

    def quietly(self, node: ast.expr, frame: Frame) -> PyValue:
        """Evaluate an expression of which no requirement is taken."""
        before, self.attention.is_quiet = self.attention.is_quiet, True
        try:
            return self.value(node, frame)
        finally:
            self.attention.is_quiet = before

    def _step(self) -> None:
        self._steps += 1
        if self._steps > _STEPS:
            raise _Exhausted
