"""The one shell reader: what a script, a RUN instruction, a heredoc or a quoted command does with upstreams.

tree-sitter gives the tree; this file walks it as a shell would, with values that may have alternatives in place of
strings. Both arms of a branch are read. Nothing is run, nothing is looked up; what the text does not tell is unknown.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import partial

from tree_sitter import Node

from watcher.pins import commands
from watcher.pins.call import Call
from watcher.pins.checkout import Checkout
from watcher.pins.conditions import Condition, condition
from watcher.pins.format import Broken
from watcher.pins.scope import Array, Function, Scope, join
from watcher.pins.sites import Pick, Sighting, Site
from watcher.pins.syntax import Script, between, chain
from watcher.pins.text import UNKNOWN, Place, Text, joined, unknown, written
from watcher.pins.values import MOST, Case, Choice, Guard, Value, distinct, is_compatible, just, named, tagged
from watcher.pins.words import Expander, Fields

_STEPS = 12_000
"""Commands and words that one file may cost; beyond them the rest of it is not read."""
_PIECES = 64
"""So many pieces of text cost as much as a word."""
_ASIDE = 200
"""What one call of a function may cost that touches no upstream."""
_OTHER_FILE = 1_500
"""What a file may cost where another one runs it."""
_CALLS = 12
"""How many alternatives of a function's arguments are followed."""
_RUNS = 6
"""How often one file runs another before the further times are taken to be like those."""
_LIVE = re.compile(
    r"\bgit\b[^\n]{0,200}\b(?:clone|fetch|checkout|switch|reset|remote|submodule|pull|subtree|archive)\b"
    r"|\bclone\b|\.git\b|--git\b|\b(?:repo|west) init\b|\b(?:npm|yarn|pnpm|go) [^\n]{0,200}[#@]"
    r"|git\+|/archive/|codeload|raw\.github|(?:tar|zip)ball|/snapshot/"
)
_WORDS = re.compile(r"[\w-]+")
_SILENT = frozenset({b"echo", b"printf", b"mkdir", b"rm", b"ls", b"chmod", b"apt-get", b"apt", b"true"})
"""What tells nothing about upstreams unless somebody reads its output."""
_DEEPEST = 40
_LOOPS = 64
_MOST_ELEMENTS = 500


def is_live(text: str) -> bool:
    """Answer whether a text may touch an upstream itself; others only print or set something."""
    return _LIVE.search(text) is not None


class Reader:
    """Reads the shell text of one file; collects what it does with upstreams."""

    def __init__(self, checkout: Checkout) -> None:
        self.checkout = checkout
        self.sites: list[Site] = []
        self.picks: list[Pick] = []
        self.mentions: dict[str, dict[Place, None]] = {}
        """Each full commit id → the places that write it in some command."""
        self.included: frozenset[str] = frozenset()
        """Files being read now, so that one which includes itself ends."""
        self.aliases: dict[str, str] = {}
        """Path at which a file of the checkout is put under another name → its path there."""
        self._expander = Expander(self._substituted)
        self._steps = 0
        self._limit = _STEPS
        self._live: dict[str, bool] = {}
        self._runs: dict[str, int] = {}
        self._is_running = False
        self._depth = 0
        self._points = 0
        self._printed: list[Value] | None = None
        self._uncalled: dict[int, Callable[[], None]] = {}
        self._scripts: dict[Text, Script] = {}

    # --- entry points ------------------------------------------------------------------------------------------------

    def run(self, source: Text, scope: Scope) -> None:
        """Read a text as shell commands in a scope."""
        if self._depth >= _DEEPEST or not source:
            return
        script = self._scripts.get(source) or self._scripts.setdefault(source, Script(source))
        self._whole(script, scope)

    def _whole(self, script: Script, scope: Scope) -> None:
        self._block(script, script.root.children, scope)
        self._steps += _STEPS * script.is_cut

    def include(self, text: str, name: str, scope: Scope, *, is_sourced: bool) -> None:
        """Read another file of the checkout where this one runs it.

        A script that is run reports its own pins when its turn comes; here it only matters what it is given, so one
        that touches no upstream is left out, and so are those that it runs in turn.
        """
        self._runs[name] = self._runs.get(name, 0) + 1
        is_busy = self._is_running or self._runs[name] > _RUNS
        if not is_sourced and (is_busy or not is_live(text)):
            return
        before = self.included, self._limit, self._is_running
        first = len(self.sites)
        self.included |= {name}
        self._is_running |= not is_sourced
        if not is_sourced or not is_live(text):
            self._limit = min(self._limit, self._steps + _OTHER_FILE)
        if self._depth < _DEEPEST:
            self._whole(self.checkout.once(("script", name), lambda: Script(written(text, name))), scope)
        for site in self.sites[first:]:
            site.is_partial |= self._steps > self._limit
            site.is_run |= not is_sourced
        self.included, self._limit, self._is_running = before

    def value(self, source: Text, scope: Scope) -> Value:
        """Expand a text to one value."""
        value = self._expander.value(source, scope)
        self._steps += 1 + sum(len(case.text.spans) for case in value) // _PIECES
        return value

    def finish(self) -> Iterable[Sighting]:
        """Read the functions that nothing called, then yield everything that was seen."""
        for _ in range(_LOOPS):
            if not self._uncalled:
                break
            self._uncalled.pop(next(iter(self._uncalled)))()
        found = [sighting for site in self.sites for sighting in site.sightings()]
        found += [pick.sighting(pick.branch) for pick in self.picks]
        yield from found
        owned = {(sighting.pin.file, sighting.pin.line) for sighting in found}
        for sighting in found:
            yield from self._repeated(sighting, owned)

    def _repeated(self, sighting: Sighting, owned: set[tuple[str, int]]) -> Iterable[Sighting]:
        """Yield a pin again for each further line of its file that writes the same commit and is no pin itself."""
        pin = sighting.pin
        for place in self.mentions.get(pin.ref or "", ()):
            if place.file == pin.file and (place.file, place.line) not in owned:
                yield sighting._replace(pin=replace(pin, line=place.line))

    @property
    def is_exhausted(self) -> bool:
        """Answer whether the file was too costly to be read to its end."""
        return self._steps > _STEPS

    def point(self) -> str:
        """Return a name for a branch like no other; later ones sort later."""
        self._points += 1
        return f"~{self._points:06}"

    # --- statements --------------------------------------------------------------------------------------------------

    def _block(self, script: Script, nodes: Iterable[Node], scope: Scope) -> None:
        for node in nodes:
            if not scope.is_alive or self._steps > self._limit:
                return
            if node.is_named:
                self._statement(script, node, scope)

    def _statement(self, script: Script, node: Node, scope: Scope) -> None:
        self._steps += node.type != "command"
        if self._depth >= _DEEPEST:
            return
        self._depth += 1
        try:
            self._dispatch(script, node, scope)
        finally:
            self._depth -= 1

    def _dispatch(self, script: Script, node: Node, scope: Scope) -> None:  # noqa: C901, PLR0912 - one row a node type
        match node.type:
            case "command":
                self._command(script, node, scope)
            case "list":
                self._list(script, list(chain(node)), scope)
            case "pipeline":
                self._pipeline(script, node.named_children, scope)
            case "redirected_statement":
                self._redirected(script, node, scope)
            case "variable_assignment":
                self._assign(script, node, scope)
            case "variable_assignments":
                for child in node.named_children:
                    self._assign(script, child, scope)
            case "declaration_command":
                self._declare(script, node, scope)
            case "if_statement" | "elif_clause":
                self._if(script, node, scope)
            case "for_statement":
                self._for(script, node, scope)
            case "while_statement":
                self._while(script, node, scope, None)
            case "case_statement":
                self._case(script, node, scope)
            case "function_definition":
                self._define(script, node, scope)
            case "subshell":
                self._subshell(script, node.children, scope)
            case "comment" | "heredoc_body" | "test_command" | "unset_command":
                return
            case _:
                self._block(script, node.children, scope)

    def _subshell(self, script: Script, nodes: Iterable[Node], scope: Scope) -> None:
        inner = scope.copy()
        self._block(script, nodes, inner)
        scope.folders = inner.folders

    def _list(self, script: Script, steps: Sequence[tuple[str, Node]], scope: Scope) -> None:
        """Read `a && b || c`: what follows a test is an arm, what follows `||` is what happens otherwise."""
        if self._depth >= _DEEPEST:
            return
        self._depth += 1
        try:
            at = 0
            while at < len(steps) and scope.is_alive and self._steps <= self._limit:
                at = self._step(script, steps, at, scope)
        finally:
            self._depth -= 1

    def _step(self, script: Script, steps: Sequence[tuple[str, Node]], at: int, scope: Scope) -> int:
        """Read one command of a list, with what hangs on its outcome; return where the list goes on."""
        operator, node = steps[at]
        after = steps[at + 1][0] if at + 1 < len(steps) else ""
        test = self._condition(script, node, scope) if _is_test(node) and after else None
        if operator == "||":  # a || b || c: the one before may have failed too
            self._branch(None, _nothing, lambda arm: self._statement(script, node, arm), scope)
            return at + 1
        if test is not None and after == "&&":
            end = next((i for i in range(at + 1, len(steps)) if steps[i][0] == "||"), len(steps))
            otherwise = [("", other) for _, other in steps[end : end + 1]]
            self._branch(
                test,
                lambda arm: self._list(script, [("", steps[at + 1][1]), *steps[at + 2 : end]], arm),
                lambda arm: self._list(script, otherwise, arm),
                scope,
            )
            return end + 1
        if test is not None:
            self._branch(test, _nothing, lambda arm: self._statement(script, steps[at + 1][1], arm), scope)
            return at + 2
        self._statement(script, node, scope)
        return at + 1

    def _branch(
        self, test: Condition | None, then: Callable[[Scope], None], otherwise: Callable[[Scope], None], scope: Scope
    ) -> None:
        """Read both arms of a branch and put what they leave together."""
        self._steps += len(scope.variables) // _PIECES
        point = f"?{test.key}" if test is not None and test.key is not None else self.point()
        yes = 1 if test is not None and test.is_negated else 0
        arms: list[tuple[Guard, Scope]] = []
        for is_yes, body in ((True, then), (False, otherwise)):
            arm_number = yes if is_yes else 1 - yes
            unlikely = test is not None and _is_unlikely(test, scope, is_yes=is_yes)
            default = test is not None and _is_unlikely(test, scope, is_yes=not is_yes)
            label = test.labels[not is_yes] if test is not None else ""
            guard: Guard = frozenset({Choice(point, arm_number, 2, label, unlikely, default)})
            if not is_compatible(guard, scope.guard):
                continue
            arm = scope.copy(guard)
            if test is not None:
                _refine(test, arm, is_yes=is_yes)
            self._printing(guard, partial(body, arm))
            arms.append((guard, arm))
        join(scope, arms)

    def _if(self, script: Script, node: Node, scope: Scope) -> None:
        keyword = node.children[0].type
        tests = between(node, keyword, "then")
        self._block(script, [test for test in tests if not _is_test(test)], scope)
        test = self._condition(script, tests[-1], scope) if tests else None
        others = [child for child in node.children if child.type in {"elif_clause", "else_clause"}]
        if node.type == "elif_clause":
            others = _later_clauses(node)
        self._branch(
            test,
            lambda arm: self._block(script, between(node, "then", "elif_clause", "else_clause", "fi"), arm),
            lambda arm: self._otherwise(script, others[:1], arm),
            scope,
        )

    def _otherwise(self, script: Script, clauses: Sequence[Node], scope: Scope) -> None:
        for clause in clauses:
            if clause.type == "elif_clause":
                self._statement(script, clause, scope)
            else:
                self._block(script, clause.children, scope)

    def _condition(self, script: Script, node: Node, scope: Scope) -> Condition:
        source = script.text(node)
        if node.type == "negated_command" and not _is_test(node.named_children[-1] if node.named_children else node):
            self._block(script, node.named_children, scope)
        raw = source.chars[:400]
        if not _is_test(node):
            return condition(raw, None)
        value = self._expander.quoted(source[:400], scope) if "`" not in raw and "$(" not in raw else ()
        expanded = value[0].text.key if len(value) == 1 else f"{raw}@{source.place()}"
        return condition(raw, expanded)

    def _case(self, script: Script, node: Node, scope: Scope) -> None:
        items = [child for child in node.named_children if child.type == "case_item"]
        subject = node.child_by_field_name("value")
        value = self.value(script.text(subject), scope) if subject is not None else ()
        patterns = [[script.text(p).chars for p in item.children_by_field_name("value")] for item in items]
        key = (
            f"?case {value[0].text.key} {patterns}"
            if len(value) == 1 and "$(" not in value[0].text.key
            else self.point()
        )
        if subject is not None and len(value) == 1 and _ARGUMENT.fullmatch(script.text(subject).chars):
            chosen = _matching(value[0].text.chars, patterns)
            if chosen is not None:  # an argument is what it is; a variable may be set from outside
                self._block(script, _after_pattern(items[chosen]), scope)
                return
        self._steps += len(scope.variables) // _PIECES
        is_total = any("*" in pattern for pattern in patterns)
        count = len(items) + (not is_total)
        arms: list[tuple[Guard, Scope]] = []
        for number in range(count):
            label = "" if number >= len(items) else " ".join(patterns[number])
            guard: Guard = frozenset({Choice(key, number, count, label)})
            if not is_compatible(guard, scope.guard):
                continue
            arm = scope.copy(guard)
            if number < len(items):
                self._printing(guard, partial(self._block, script, _after_pattern(items[number]), arm))
            arms.append((guard, arm))
        join(scope, arms)

    def _for(self, script: Script, node: Node, scope: Scope) -> None:
        variable = node.child_by_field_name("variable")
        body = node.child_by_field_name("body")
        if variable is None or body is None:
            return
        name = script.text(variable).chars
        words = node.children_by_field_name("value")
        items = [
            Case(field, alternative.guard)
            for word in words[:_MOST_ELEMENTS]
            for alternative in self._items(script.text(word), scope)
            for field in alternative.fields
        ] or ([Case(text) for text in scope.arguments or ()] if not words else [])
        items = [item for item in dict.fromkeys(items) if not set(item.text.chars) & set("*?")] or [
            Case(unknown(name, script.text(node).place()))
        ]
        for item in items[:_LOOPS]:
            if not is_compatible(item.guard, scope.guard):
                continue
            arm = scope.copy(item.guard) if item.guard else scope
            arm.assign(name, named(just(item.text), name))
            self._block(script, body.children, arm)
            if arm is not scope:
                join(scope, [(item.guard, arm), (frozenset(), scope.copy())])
            scope.is_alive = True

    def _items(self, source: Text, scope: Scope) -> Iterable[Fields]:
        array = re.fullmatch(r'"?\$\{(\w+)\[[@*]\]\}"?', source.chars)
        if array and array[1] in scope.arrays:
            for _, value in scope.arrays[array[1]]:
                yield from (Fields(case.guard, (case.text,)) for case in value)
            return
        braces = re.fullmatch(r"([^{}$'\"]*)\{([^{}$'\"]+,[^{}$'\"]*)\}([^{}$'\"]*)", source.chars)
        if braces:
            pieces = [(found.start(), found.end()) for found in re.finditer(r"[^,]+", braces[2])]
            for start, end in pieces:
                inner = source[braces.start(2) + start : braces.start(2) + end]
                yield Fields(frozenset(), (source[: braces.end(1)] + inner + source[braces.start(3) :],))
            return
        yield from self._expander.fields(source, scope)

    def _while(self, script: Script, node: Node, scope: Scope, lines: Value | None) -> None:
        body = node.child_by_field_name("body")
        tests = [child for child in node.children_by_field_name("condition") if child.is_named]
        reads = next((call for test in tests if (call := _read_call(script, test))), None)
        if lines is not None and reads is not None and body is not None:
            separator, names = reads
            for case in lines:
                for start, end in _line_parts(case.text.chars)[:_LOOPS]:
                    commands.read_into(scope, names, case.text[start:end], separator)
                    self._block(script, body.children, scope)
                    scope.is_alive = True
            return
        if body is not None and scope.arguments and any(_ARGUMENTS.search(script.text(test).chars) for test in tests):
            self._each_argument(script, body, scope)
            return
        arm = scope.copy()
        for name in reads[1] if reads else ():
            arm.assign(name, just(unknown(name, script.text(node).place())))
        self._block(script, [test for test in tests if not _is_test(test)], arm)
        if body is not None:
            self._block(script, body.children, arm)
        arm.is_alive = True
        join(scope, [(frozenset(), arm)])

    def _each_argument(self, script: Script, body: Node, scope: Scope) -> None:
        """Read the body of `while [ $# -gt 0 ]` for as long as a `shift` in it leaves arguments."""
        for _ in range(_LOOPS):
            before = scope.arguments
            self._block(script, body.children, scope)
            scope.is_alive = True
            if not scope.arguments or scope.arguments == before:
                return

    # --- functions ---------------------------------------------------------------------------------------------------

    def _define(self, script: Script, node: Node, scope: Scope) -> None:
        name = node.child_by_field_name("name")
        body = node.child_by_field_name("body")
        if name is None or body is None:
            return
        label = script.text(name).chars

        def call(inner: Scope) -> None:
            self._uncalled.pop(id(call), None)
            inner.labels = (label, *inner.labels)
            self._block(script, body.children, inner)

        scope.functions[label] = Function(script.text(body).chars, call)
        if not self.included:  # another file's functions are read alone when its turn comes
            cwd = just(unknown(f"{label}()", script.text(name).place()))
            self._uncalled[id(call)] = lambda: self._call_alone(call, scope, cwd)

    def _call_alone(self, call: Callable[[Scope], None], scope: Scope, cwd: Value) -> None:
        """Read a function that other files call: with arguments from outside and what this file set until its end."""
        inner = scope.copy()
        inner.arguments, inner.is_alive, inner.folders, inner.cwd = None, True, {}, cwd
        call(inner)

    def call(self, name: str, arguments: tuple[Text, ...], scope: Scope) -> None:
        """Call a function that the script defines."""
        if self._depth >= _DEEPEST:
            return
        inner = scope.copy()
        inner.arguments = tuple(text.named("") for text in arguments)
        inner.local = frozenset()
        function = scope.functions[name]
        limit = self._limit
        if not self._is_live(function, scope, frozenset()):
            self._limit = min(limit, self._steps + _ASIDE)
        self._depth += 5  # a call is worth several levels of the host's stack
        try:
            function.run(inner)
        finally:
            self._depth -= 5
            self._limit = limit
        for local in inner.local:
            inner.variables.pop(local, None)
            if local in scope.variables:
                inner.variables[local] = scope.variables[local]
        scope.variables, scope.arrays = inner.variables, inner.arrays
        scope.folders, scope.cwd, scope.stack, scope.before = inner.folders, inner.cwd, inner.stack, inner.before
        scope.functions = inner.functions

    def _is_live(self, function: Function, scope: Scope, seen: frozenset[str]) -> bool:
        """Answer whether a function, or one that it calls, may touch an upstream."""
        if function.body not in self._live:
            others = (scope.functions[word] for word in set(_WORDS.findall(function.body)) if word in scope.functions)
            deeper = seen | {function.body}
            self._live[function.body] = is_live(function.body) or (
                len(seen) < _DEEPEST
                and any(self._is_live(other, scope, deeper) for other in others if other.body not in deeper)
            )
        return self._live[function.body]

    # --- assignments -------------------------------------------------------------------------------------------------

    def _declare(self, script: Script, node: Node, scope: Scope) -> None:
        is_local = node.children[0].type in {"local", "declare", "typeset"} and scope.arguments is not None
        for child in node.named_children:
            if child.type == "variable_assignment":
                target = child.child_by_field_name("name")
            elif child.type == "variable_name":
                target = child
            else:
                continue
            if is_local and target is not None:
                scope.local |= {script.text(target).chars}
            if child.type == "variable_assignment":
                self._assign(script, child, scope)

    def _assign(self, script: Script, node: Node, scope: Scope) -> None:
        target, source = node.child_by_field_name("name"), node.child_by_field_name("value")
        if target is None:
            return
        name = script.text(target).chars
        if target.type == "subscript":
            self._assign_element(script, target, source, scope)
            return
        is_added = any(child.type == "+=" for child in node.children)
        if source is not None and source.type == "array":
            before = scope.arrays.get(name, ()) if is_added else ()
            scope.arrays[name] = (*before, *self._array(script, source, name, scope, len(before)))[:_MOST_ELEMENTS]
            scope.variables.pop(name, None)
            return
        value = self.value(script.text(source), scope) if source is not None else just(Text())
        if is_added and (old := scope.value(name)):
            value = distinct(
                Case(a.text + b.text, a.guard | b.guard) for a in old for b in value if is_compatible(a.guard, b.guard)
            )
        scope.assign(name, named(value, name))

    def _array(self, script: Script, node: Node, name: str, scope: Scope, start: int) -> Array:
        elements: list[tuple[str, Value]] = []
        for child in node.named_children[: 2 * _MOST_ELEMENTS]:
            if child.type == "comment":
                continue
            source = script.text(child)
            keyed = re.match(r"\[\s*[\"']?([^\]\"']*)[\"']?\s*\]=", source.chars)
            if keyed:
                elements.append((keyed[1], named(self.value(source[keyed.end() :], scope), name)))
                continue
            for alternative in self._expander.fields(source, scope):
                for field in alternative.fields:
                    elements.append((str(start + len(elements)), named((Case(field, alternative.guard),), name)))
        return tuple(elements)

    def _assign_element(self, script: Script, target: Node, source: Node | None, scope: Scope) -> None:
        array, index = target.child_by_field_name("name"), target.child_by_field_name("index")
        if array is None or index is None or source is None:
            return
        name = script.text(array).chars
        key = self.value(script.text(index), scope)[0].text.chars
        kept = tuple(element for element in scope.arrays.get(name, ()) if element[0] != key)
        scope.arrays[name] = (*kept, (key, named(self.value(script.text(source), scope), name)))

    # --- commands ----------------------------------------------------------------------------------------------------

    def _command(self, script: Script, node: Node, scope: Scope, stdin: Value | None = None, target: str = "") -> None:
        words = [child for child in node.children if child.is_named]
        prefixes = [child for child in words if child.type == "variable_assignment"]
        redirects = [child for child in words if child.type.endswith("_redirect")]
        arguments = [child for child in words if child not in prefixes and child not in redirects]
        for redirect in redirects:
            if redirect.type == "herestring_redirect" and redirect.named_children:
                stdin = self.value(script.text(redirect.named_children[-1]), scope)
        name = arguments[0].text if arguments else None
        if self._printed is None and not target and name in _SILENT and b"$(" not in (node.text or b""):
            return
        self._steps += 1
        inner = scope
        if prefixes:
            inner = scope.copy()
            for prefix in prefixes:
                self._assign(script, prefix, inner)
        separator = next((scope_value for p in prefixes if (scope_value := _separator(script, p)) is not None), None)
        argvs = self._argvs([script.text(word) for word in arguments[:_MOST_ELEMENTS]], inner)
        place = script.text(node).place()
        if prefixes and inner is not scope:
            inner = scope
        self.execute(argvs, inner, place, stdin=stdin, target=target, separator=separator)

    def _argvs(self, words: Sequence[Text], scope: Scope) -> tuple[Fields, ...]:
        alternatives: list[Fields] = [Fields(frozenset(), ())]
        for word in words:
            fields = self._expander.fields(word, scope)
            self._steps += 1 + sum(len(text.spans) for one in fields for text in one.fields) // _PIECES
            alternatives = [
                Fields(a.guard | b.guard, (*a.fields, *b.fields))
                for a in alternatives
                for b in fields
                if is_compatible(a.guard, b.guard)
            ][:MOST]
        return tuple(a for a in alternatives if is_compatible(a.guard, scope.guard))

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
            self._steps += 1
            is_single = len(argvs) == 1 and not guard
            arm = scope if is_single else scope.copy(guard)
            self._mention(argv)
            call = Call(argv=argv, place=place, stdin=stdin, target=target, separator=separator, arm=arm, shell=self)
            self._printing(guard, partial(commands.run, call))
            if not is_single:
                arms.append((guard, arm))
        if arms:
            join(scope, arms)

    def _mention(self, argv: Iterable[Text]) -> None:
        for text in argv:
            if len(text.chars) < _COMMIT_LENGTH:
                continue
            for found in _COMMIT.finditer(text.chars):
                self.mentions.setdefault(found[0], {})[text.place(found.start())] = None

    # --- redirects and pipes -----------------------------------------------------------------------------------------

    def _redirected(self, script: Script, node: Node, scope: Scope) -> None:
        body = node.child_by_field_name("body")
        redirects = node.children_by_field_name("redirect")
        stdin = next((self._heredoc(script, r, scope) for r in redirects if r.type == "heredoc_redirect"), None)
        for redirect in redirects:
            if redirect.type == "herestring_redirect" and redirect.named_children:
                stdin = self.value(script.text(redirect.named_children[-1]), scope)
            elif redirect.type == "file_redirect" and redirect.children and redirect.children[0].type == "<":
                stdin = self._file_value(script, redirect, scope)
        target = _target(script, redirects)
        heredocs = [r for r in redirects if r.type == "heredoc_redirect"]
        pipes = [child for r in heredocs for child in r.named_children if child.type == "pipeline"]
        if body is None:
            return
        if pipes:
            first = self._captured(lambda: self._with_stdin(script, body, scope, stdin, target))
            self._stages(script, [stage for pipe in pipes for stage in pipe.named_children], scope, first or stdin)
        else:
            self._with_stdin(script, body, scope, stdin, target)
        for redirect in heredocs:
            right = redirect.child_by_field_name("right")
            if right is not None and scope.is_alive:
                self._list(script, list(chain(right)), scope)

    def _with_stdin(self, script: Script, node: Node, scope: Scope, stdin: Value | None, target: str) -> None:
        if node.type == "command":
            self._command(script, node, scope, stdin, target)
        elif node.type == "while_statement":
            self._while(script, node, scope, stdin)
        elif node.type == "list":
            steps = list(chain(node))
            self._list(script, steps[:-1], scope)
            if scope.is_alive:
                self._with_stdin(script, steps[-1][1], scope, stdin, target)
        else:
            self._statement(script, node, scope)

    def _heredoc(self, script: Script, node: Node, scope: Scope) -> Value | None:
        start = next((child for child in node.children if child.type == "heredoc_start"), None)
        body = next((child for child in node.children if child.type == "heredoc_body"), None)
        end = next((child for child in node.children if child.type == "heredoc_end"), None)
        if start is None or body is None:
            return None
        text = script.between(body.start_byte, end.start_byte if end is not None else body.end_byte)
        if set(script.text(start).chars) & set("'\"\\"):
            return just(text)
        return self._expander.quoted(text, scope)

    def _file_value(self, script: Script, redirect: Node, scope: Scope) -> Value | None:
        target = redirect.child_by_field_name("destination")
        if target is None:
            return None
        if target.type == "process_substitution":
            return self._substituted(script.text(target)[2:-1], scope)
        return commands.file_value(self, scope, self.value(script.text(target), scope))

    def _pipeline(self, script: Script, nodes: Sequence[Node], scope: Scope) -> None:
        first = nodes[0] if nodes else None
        if first is None:
            return
        rest = nodes[1:_LOOPS]
        if not rest:
            self._statement(script, first, scope)
            return
        printed = self._captured(lambda: self._statement(script, first, scope))
        self._stages(script, rest, scope, printed)

    def _stages(self, script: Script, nodes: Sequence[Node], scope: Scope, stdin: Value | None) -> None:
        for at, node in enumerate(nodes):
            is_last = at == len(nodes) - 1
            inner = node.child_by_field_name("body") if node.type == "redirected_statement" else node
            if inner is None:
                continue

            def stage(inner: Node = inner, stdin: Value | None = stdin) -> None:
                self._with_stdin(script, inner, scope, stdin, "")

            if is_last:
                stage()
            else:
                stdin = self._captured(stage)

    def _captured(self, action: Callable[[], None]) -> Value | None:
        """Return what an action prints, as far as the files tell; None where they do not."""
        before, self._printed = self._printed, []
        try:
            action()
            printed = self._printed
        finally:
            self._printed = before
        if not printed or any(not value for value in printed):
            return None
        value: Value = just(Text())
        for part in printed:
            value = distinct(_continued(value, part))
        return just(value[0].text) if len(value) == 1 else value

    def _printing(self, guard: Guard, action: Callable[[], None]) -> None:
        """Do what happens in one arm of a branch, and remember that what it prints is printed there alone."""
        start = len(self._printed or ())
        action()
        if guard and self._printed is not None:
            self._printed[start:] = [tagged(value, guard) for value in self._printed[start:]]

    def print(self, value: Value | None) -> None:
        """Remember what a command prints, where somebody reads it; None for something unknown."""
        if self._printed is not None:
            self._printed.append(value or ())

    def _substituted(self, source: Text, scope: Scope) -> Value:
        """Return what `$(…)` stands for."""
        inner = scope.copy()
        inner.functions = dict(scope.functions)
        only_file = re.fullmatch(r"\s*<\s*(\S.*?)\s*", source.chars, re.DOTALL)
        if only_file and not only_file[1].startswith(("<", "(")):
            value = commands.file_value(self, inner, self.value(source[only_file.start(1) : only_file.end(1)], inner))
        else:
            value = self._captured(lambda: self.run(source, inner))
        scope.folders = inner.folders
        stripped = distinct(Case(_without_line_end(case.text), case.guard) for case in value or ())
        return stripped or just(unknown(f"$({source.chars[:40]}){source.place().line}", source.place()))


def _continued(value: Value, part: Value) -> Iterable[Case]:
    """Yield what is printed once a part more is; a part of another arm of a branch stands for itself."""
    for a in value:
        for b in part:
            if is_compatible(a.guard, b.guard):
                yield Case(joined((a.text, b.text)), a.guard | b.guard)
    yield from (a for a in value if not any(is_compatible(a.guard, b.guard) for b in part))
    yield from (b for b in part if not any(is_compatible(a.guard, b.guard) for a in value))


_COMMIT = re.compile(r"(?<![0-9a-fA-F])[0-9a-f]{40}(?![0-9a-fA-F])")
_COMMIT_LENGTH = 40


def _without_line_end(text: Text) -> Text:
    return text[: len(text.chars.rstrip("\r\n"))]


def _nothing(_: Scope) -> None:
    """Do nothing: the arm that a list leaves out."""


def _is_test(node: Node) -> bool:
    if node.type == "test_command":
        return True
    if node.type == "negated_command":
        return bool(node.named_children) and _is_test(node.named_children[-1])
    name = node.child_by_field_name("name") if node.type == "command" else None
    return name is not None and name.text in {b"test", b"["}


def _is_unlikely(test: Condition, scope: Scope, *, is_yes: bool) -> bool:
    """Answer whether the known value of the variable that is asked for leads to the other arm."""
    value = _asked(test.variable, scope) if test.variable else None
    if value is None:
        return False
    is_empty_here = test.is_empty == is_yes
    return all(case.text.is_known and bool(case.text) == is_empty_here for case in value)


def _asked(name: str, scope: Scope) -> Value | None:
    """Return what a variable or, by its number, an argument may be; None where the file does not tell."""
    if not name.isdigit():
        return scope.value(name)
    at = int(name) - 1
    return None if scope.arguments is None else just(scope.arguments[at] if at < len(scope.arguments) else Text())


def _refine(test: Condition, arm: Scope, *, is_yes: bool) -> None:
    """Keep of the variable that is asked for what can be so in this arm."""
    value = arm.value(test.variable) if test.variable else None
    if value is None or test.variable is None:
        return
    is_empty_here = test.is_empty == is_yes
    kept = tuple(case for case in value if not case.text.is_known or bool(case.text) != is_empty_here)
    if is_empty_here and not kept:
        arm.variables[test.variable] = just(Text())
    elif not kept:
        place = next((case.text.place() for case in value if case.text), Place("", 0))
        arm.variables[test.variable] = just(unknown(test.variable, place))
    elif len(kept) < len(value):
        arm.variables[test.variable] = kept


def _later_clauses(node: Node) -> list[Node]:
    later: list[Node] = []
    sibling = node.next_sibling
    while sibling is not None:
        if sibling.type in {"elif_clause", "else_clause"}:
            later.append(sibling)
        sibling = sibling.next_sibling
    return later


_ARGUMENTS = re.compile(r"\$\{?#\}?(?![\w}])|\$\{?1\b")
_ARGUMENT = re.compile(r"\"?\$(?:1|\{1\})\"?")


def _matching(chars: str, patterns: Sequence[Sequence[str]]) -> int | None:
    """Return the first case whose pattern matches what is known to the last character."""
    if not chars or UNKNOWN in chars:
        return None
    plain = [[re.sub(r"[\"'\\]", "", pattern) for pattern in one] for one in patterns]
    return next((at for at, one in enumerate(plain) if any(fnmatchcase(chars, pattern) for pattern in one)), None)


def _after_pattern(item: Node) -> list[Node]:
    at = next((i for i, child in enumerate(item.children) if child.type == ")"), 0)
    return list(item.children[at + 1 :])


def _read_call(script: Script, node: Node) -> tuple[str | None, tuple[str, ...]] | None:
    """Return the separator and the names of `IFS=… read -r a b`."""
    found = re.match(r"(?:IFS=(?P<ifs>\S*|' '|'[^']*')\s+)?read\s+(?P<names>.*)", script.text(node).chars, re.DOTALL)
    if found is None:
        return None
    names = tuple(word for word in found["names"].split() if re.fullmatch(r"[A-Za-z_]\w*", word))
    ifs = found["ifs"]
    return (ifs.strip("'\"").replace("\\", "").replace("$", "") if ifs else None), names


def _line_parts(chars: str) -> list[tuple[int, int]]:
    return [
        (found.start(), found.end())
        for found in re.finditer(r"[^\n]+", chars)
        if found[0].strip() and not found[0].lstrip().startswith("#")
    ]


def _separator(script: Script, node: Node) -> str | None:
    found = re.fullmatch(r"IFS=['\"$]*(.*?)['\"]*", script.text(node).chars, re.DOTALL)
    return found[1] if found else None


def _target(script: Script, redirects: Sequence[Node]) -> str:
    """Return the file that a command's output goes to, as written."""
    inner = [child for r in redirects if r.type == "heredoc_redirect" for child in r.named_children]
    for redirect in (*redirects, *inner):
        if redirect.type == "file_redirect" and any(child.type in {">", ">>", ">|"} for child in redirect.children):
            target = redirect.child_by_field_name("destination")
            if target is not None:
                return script.text(target).chars.strip("\"'")
    return ""


def read_script(source: Text, path: str, checkout: Checkout) -> Iterator[Sighting | Broken]:
    """Find what a whole script does with upstreams, from a folder that nobody knows."""
    reader = Reader(checkout)
    reader.run(source, Scope(cwd=just(unknown("start", Place(path, 1)))))
    yield from reader.finish()
    if reader.is_exhausted:
        yield Broken(file=path, line=1, reason="too much to follow: what comes late in this file was not read")
