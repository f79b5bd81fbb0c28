"""Where what a command reads comes from and where its output goes: redirects, heredocs, pipes, `$(…)`."""

import re
from collections.abc import Sequence

from tree_sitter import Node

from watcher.pins.filevalues import file_value
from watcher.pins.interpreter import Interpreter
from watcher.pins.scope import Scope
from watcher.pins.shellcommand import command
from watcher.pins.shelllists import follow
from watcher.pins.shellloops import while_
from watcher.pins.syntax import Script, chain
from watcher.pins.text import Text, unknown
from watcher.pins.values import Case, Value, distinct, just

_MOST_STAGES = 64


def redirected(shell: Interpreter, script: Script, node: Node, scope: Scope) -> None:
    """Read a statement with redirects, and what follows the line of a heredoc."""
    body = node.child_by_field_name("body")
    redirects = node.children_by_field_name("redirect")
    heredocs = [r for r in redirects if r.type == "heredoc_redirect"]
    stdin = _input(shell, script, redirects, scope)
    target = _target(script, redirects)
    pipes = [child for r in heredocs for child in r.named_children if child.type == "pipeline"]
    if body is None:
        return
    if pipes:
        first = shell.printed.captured(lambda: _with_input(shell, script, body, scope, stdin, target))
        _stages(shell, script, [stage for pipe in pipes for stage in pipe.named_children], scope, first or stdin)
    else:
        _with_input(shell, script, body, scope, stdin, target)
    for redirect in heredocs:
        right = redirect.child_by_field_name("right")
        if right is not None and scope.is_alive:
            follow(shell, script, list(chain(right)), scope)


def _input(shell: Interpreter, script: Script, redirects: Sequence[Node], scope: Scope) -> Value | None:
    """Return what comes in: of a heredoc, a here-string, a file."""
    stdin = next((_heredoc(shell, script, r, scope) for r in redirects if r.type == "heredoc_redirect"), None)
    for redirect in redirects:
        if redirect.type == "herestring_redirect" and redirect.named_children:
            stdin = shell.value(script.text(redirect.named_children[-1]), scope)
        elif redirect.type == "file_redirect" and redirect.children and redirect.children[0].type == "<":
            stdin = _from_file(shell, script, redirect, scope)
    return stdin


def _heredoc(shell: Interpreter, script: Script, node: Node, scope: Scope) -> Value | None:
    start = next((child for child in node.children if child.type == "heredoc_start"), None)
    body = next((child for child in node.children if child.type == "heredoc_body"), None)
    end = next((child for child in node.children if child.type == "heredoc_end"), None)
    if start is None or body is None:
        return None
    text = script.between(body.start_byte, end.start_byte if end is not None else body.end_byte)
    if set(script.text(start).chars) & set("'\"\\"):
        return just(text)
    return shell.expander.quoted(text, scope)


def _from_file(shell: Interpreter, script: Script, redirect: Node, scope: Scope) -> Value | None:
    target = redirect.child_by_field_name("destination")
    if target is None:
        return None
    if target.type == "process_substitution":
        return substituted(shell, script.text(target)[2:-1], scope)
    return file_value(shell, scope, shell.value(script.text(target), scope))


def _target(script: Script, redirects: Sequence[Node]) -> str:
    """Return the file that a command's output goes to, as written."""
    inner = [child for r in redirects if r.type == "heredoc_redirect" for child in r.named_children]
    for redirect in (*redirects, *inner):
        if redirect.type == "file_redirect" and any(child.type in {">", ">>", ">|"} for child in redirect.children):
            target = redirect.child_by_field_name("destination")
            if target is not None:
                return script.text(target).chars.strip("\"'")
    return ""


def _with_input(
    shell: Interpreter, script: Script, node: Node, scope: Scope, stdin: Value | None, target: str = ""
) -> None:
    """Read a statement to which something comes in."""
    if node.type == "command":
        command(shell, script, node, scope, stdin, target)
    elif node.type == "while_statement":
        while_(shell, script, node, scope, stdin)
    elif node.type == "list":
        steps = list(chain(node))
        follow(shell, script, steps[:-1], scope)
        if scope.is_alive:
            _with_input(shell, script, steps[-1][1], scope, stdin, target)
    else:
        shell.statement(script, node, scope)


def pipeline(shell: Interpreter, script: Script, node: Node, scope: Scope) -> None:
    """Read `a | b`: what each stage prints comes in at the next."""
    nodes = node.named_children[:_MOST_STAGES]
    if not nodes:
        return
    first, *rest = nodes
    if not rest:
        shell.statement(script, first, scope)
        return
    printed = shell.printed.captured(lambda: shell.statement(script, first, scope))
    _stages(shell, script, rest, scope, printed)


def _stages(shell: Interpreter, script: Script, nodes: Sequence[Node], scope: Scope, stdin: Value | None) -> None:
    for at, node in enumerate(nodes):
        is_last = at == len(nodes) - 1
        inner = node.child_by_field_name("body") if node.type == "redirected_statement" else node
        if inner is None:
            continue

        def stage(inner: Node = inner, stdin: Value | None = stdin) -> None:
            _with_input(shell, script, inner, scope, stdin)

        if is_last:
            stage()
        else:
            stdin = shell.printed.captured(stage)


def substituted(shell: Interpreter, source: Text, scope: Scope) -> Value:
    """Return what `$(…)` stands for."""
    inner = scope.copy()
    inner.functions = dict(scope.functions)
    only_file = re.fullmatch(r"\s*<\s*(\S.*?)\s*", source.chars, re.DOTALL)
    if only_file and not only_file[1].startswith(("<", "(")):
        value = file_value(shell, inner, shell.value(source[only_file.start(1) : only_file.end(1)], inner))
    else:
        value = shell.printed.captured(lambda: shell.run(source, inner))
    scope.folders = inner.folders
    stripped = distinct(Case(_without_line_end(case.text), case.guard) for case in value or ())
    return stripped or just(unknown(f"$({source.chars[:40]}){source.place().line}", source.place()))


def _without_line_end(text: Text) -> Text:
    return text[: len(text.chars.rstrip("\r\n"))]
