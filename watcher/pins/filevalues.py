"""What a file of the checkout holds, where a command or a program reads it."""

from watcher.pins.call import Shell
from watcher.pins.scope import Scope
from watcher.pins.text import Place, Text, written
from watcher.pins.values import Case, Value, distinct, under


def file_value(shell: Shell, scope: Scope, paths: Value, place: Place | None = None) -> Value | None:
    """Return what a file of the checkout holds; None for one that is not there."""
    cases: list[Case] = []
    for case in under(paths, scope.guard):
        beside = (place or case.text.place()).file
        name = shell.checkout.find(case.text.chars, beside)
        text = shell.checkout.texts[name] if name else ""
        if name and text:
            cases.append(Case(_content(text, name), case.guard))
    return distinct(cases) or None


def _content(text: str, name: str) -> Text:
    """Return a file's text; of one with a single line of content and remarks around it, that line."""
    lines = [
        (at, line) for at, line in enumerate(text.split("\n"), 1) if line.strip() and not line.lstrip().startswith("#")
    ]
    if len(lines) == 1:
        at, line = lines[0]
        return written(line.strip(), name, at)
    return written(text, name)
