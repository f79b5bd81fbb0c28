"""The one shell reader: what a script, a RUN instruction, a heredoc or a quoted command does with upstreams.

tree-sitter gives the tree; this file walks it as a shell would, with values that may have alternatives in place of
strings. Both arms of a branch are read. Nothing is run, nothing is looked up; what the text does not tell is unknown.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

from tree_sitter import Node

from watcher.pins import commands
from watcher.pins.budget import Budget
from watcher.pins.call import Call
from watcher.pins.checkout import Checkout
from watcher.pins.format import Broken
from watcher.pins.interpreter import Interpreter
from watcher.pins.live import is_live
from watcher.pins.printed import Printed
from watcher.pins.scope import Scope, join
from watcher.pins.shellassign import assign, assign_all, declare
from watcher.pins.shellbranches import case_, if_
from watcher.pins.shellcommand import command
from watcher.pins.shellfunctions import called, define
from watcher.pins.shelllists import list_
from watcher.pins.shellloops import for_, while_
from watcher.pins.shellpipes import pipeline, redirected, substituted
from watcher.pins.sites import Pick, Sighting, Site
from watcher.pins.syntax import Script
from watcher.pins.text import Place, Text, unknown, written
from watcher.pins.values import Guard, Value, just
from watcher.pins.wordfields import Fields
from watcher.pins.words import Expander

_OTHER_FILE = 1_500
"""What a file may cost where another one runs it."""
_CALLS = 12
"""How many alternatives of a function's arguments are followed."""
_RUNS = 6
"""How often one file runs another before the further times are taken to be like those."""
_MOST_UNCALLED = 64
_COMMIT = re.compile(r"(?<![0-9a-fA-F])[0-9a-f]{40}(?![0-9a-fA-F])")
_COMMIT_LENGTH = 40


class Reader:
    """Reads the shell text of one file; collects what it does with upstreams."""

    def __init__(self, checkout: Checkout) -> None:
        self.checkout = checkout
        self.sites: list[Site] = []
        self.picks: list[Pick] = []
        self.included: frozenset[str] = frozenset()
        """Files being read now, so that one which includes itself ends."""
        self.aliases: dict[str, str] = {}
        """Path at which a file of the checkout is put under another name → its path there."""
        self.budget = Budget()
        self.printed = Printed()
        self.expander = Expander(partial(substituted, self))
        self.uncalled: dict[int, Callable[[], None]] = {}
        self.live: dict[str, bool] = {}
        self._mentions: dict[str, dict[Place, None]] = {}
        """Each full commit id → the places that write it in some command."""
        self._runs: dict[str, int] = {}
        self._is_running = False
        self._points = 0
        self._scripts: dict[Text, Script] = {}

    # --- entry points ------------------------------------------------------------------------------------------------

    def run(self, source: Text, scope: Scope) -> None:
        """Read a text as shell commands in a scope."""
        if self.budget.is_deepest or not source:
            return
        script = self._scripts.get(source) or self._scripts.setdefault(source, Script(source))
        self._whole(script, scope)

    def _whole(self, script: Script, scope: Scope) -> None:
        self.block(script, script.root.children, scope)
        if script.is_cut:
            self.budget.exhaust()

    def include(self, text: str, name: str, scope: Scope, *, is_sourced: bool) -> None:
        """Read another file of the checkout where this one runs it.

        A script that is run reports its own pins when its turn comes; here it only matters what it is given, so one
        that touches no upstream is left out, and so are those that it runs in turn.
        """
        self._runs[name] = self._runs.get(name, 0) + 1
        is_busy = self._is_running or self._runs[name] > _RUNS
        if not is_sourced and (is_busy or not is_live(text)):
            return
        before = self.included, self.budget.limit, self._is_running
        first = len(self.sites)
        self.included |= {name}
        self._is_running |= not is_sourced
        if not is_sourced or not is_live(text):
            self.budget.confine(_OTHER_FILE)
        if not self.budget.is_deepest:
            self._whole(self.checkout.once(("script", name), lambda: Script(written(text, name))), scope)
        for site in self.sites[first:]:
            site.is_partial |= self.budget.is_spent
            site.is_run |= not is_sourced
        self.included, self.budget.limit, self._is_running = before

    def value(self, source: Text, scope: Scope) -> Value:
        """Expand a text to one value."""
        value = self.expander.value(source, scope)
        self.budget.spend_on(case.text for case in value)
        return value

    def finish(self) -> Iterable[Sighting]:
        """Read the functions that nothing called, then yield everything that was seen."""
        for _ in range(_MOST_UNCALLED):
            if not self.uncalled:
                break
            self.uncalled.pop(next(iter(self.uncalled)))()
        found = [sighting for site in self.sites for sighting in site.sightings()]
        found += [pick.sighting(pick.branch) for pick in self.picks]
        yield from found
        owned = {(sighting.pin.file, sighting.pin.line) for sighting in found}
        for sighting in found:
            yield from self._repeated(sighting, owned)

    def _repeated(self, sighting: Sighting, owned: set[tuple[str, int]]) -> Iterable[Sighting]:
        """Yield a pin again for each further line of its file that writes the same commit and is no pin itself."""
        pin = sighting.pin
        for place in self._mentions.get(pin.ref or "", ()):
            if place.file == pin.file and (place.file, place.line) not in owned:
                yield sighting._replace(pin=replace(pin, line=place.line))

    @property
    def is_exhausted(self) -> bool:
        """Answer whether the file was too costly to be read to its end."""
        return self.budget.is_exhausted

    def point(self) -> str:
        """Return a name for a branch like no other; later ones sort later."""
        self._points += 1
        return f"~{self._points:06}"

    # --- statements --------------------------------------------------------------------------------------------------

    def block(self, script: Script, nodes: Iterable[Node], scope: Scope) -> None:
        """Read statements one after the other, as long as the scope lives."""
        for node in nodes:
            if not scope.is_alive or self.budget.is_spent:
                return
            if node.is_named:
                self.statement(script, node, scope)

    def statement(self, script: Script, node: Node, scope: Scope) -> None:
        """Read one statement; of a kind that has no meaning of its own, the statements in it."""
        self.budget.steps += node.type != "command"
        if self.budget.is_deepest:
            return
        self.budget.depth += 1
        try:
            _STATEMENTS.get(node.type, _children)(self, script, node, scope)
        finally:
            self.budget.depth -= 1

    def call(self, name: str, arguments: tuple[Text, ...], scope: Scope) -> None:
        """Call a function that the script defines."""
        called(self, name, arguments, scope)

    def print(self, value: Value | None) -> None:
        """Remember what a command prints, where somebody reads it; None for something unknown."""
        self.printed.add(value)

    def execute(
        self,
        argvs: Sequence[Fields],
        scope: Scope,
        place: Place,
        *,
        stdin: Value | None = None,
        target: str = "",
        separator: str | None = None,
    ) -> None:
        """Do what a command does, for each alternative of its words."""
        arms: list[tuple[Guard, Scope]] = []
        is_call = bool(argvs and argvs[0].fields and argvs[0].fields[0].chars in scope.functions)
        for guard, argv in argvs[:_CALLS] if is_call else argvs:
            self.budget.steps += 1
            is_single = len(argvs) == 1 and not guard
            arm = scope if is_single else scope.copy(guard)
            self._mention(argv)
            call = Call(argv=argv, place=place, stdin=stdin, target=target, separator=separator, arm=arm, shell=self)
            self.printed.under(guard, partial(commands.run, call))
            if not is_single:
                arms.append((guard, arm))
        if arms:
            join(scope, arms)

    def _mention(self, argv: Iterable[Text]) -> None:
        for text in argv:
            if len(text.chars) < _COMMIT_LENGTH:
                continue
            for found in _COMMIT.finditer(text.chars):
                self._mentions.setdefault(found[0], {})[text.place(found.start())] = None


def _children(shell: Interpreter, script: Script, node: Node, scope: Scope) -> None:
    shell.block(script, node.children, scope)


def _subshell(shell: Interpreter, script: Script, node: Node, scope: Scope) -> None:
    inner = scope.copy()
    shell.block(script, node.children, inner)
    scope.folders = inner.folders


def _nothing(_: Interpreter, __: Script, ___: Node, ____: Scope) -> None:
    """Do nothing: what is written there does nothing either."""


_STATEMENTS: Mapping[str, Callable[[Interpreter, Script, Node, Scope], None]] = {
    "command": command,
    "list": list_,
    "pipeline": pipeline,
    "redirected_statement": redirected,
    "variable_assignment": assign,
    "variable_assignments": assign_all,
    "declaration_command": declare,
    "if_statement": if_,
    "elif_clause": if_,
    "for_statement": for_,
    "while_statement": while_,
    "case_statement": case_,
    "function_definition": define,
    "subshell": _subshell,
    **dict.fromkeys(("comment", "heredoc_body", "test_command", "unset_command"), _nothing),
}


def read_script(source: Text, path: str, checkout: Checkout) -> Iterator[Sighting | Broken]:
    """Find what a whole script does with upstreams, from a folder that nobody knows."""
    reader = Reader(checkout)
    reader.run(source, Scope(cwd=just(unknown("start", Place(path, 1)))))
    yield from reader.finish()
    if reader.is_exhausted:
        yield Broken(file=path, line=1, reason="too much to follow: what comes late in this file was not read")
