"""Commands that a Python program starts: words and lines for the shell reader."""

import re

from watcher.pins.pytexts import installer
from watcher.pins.pyvalues import MOST_ITEMS, PyValue, cases
from watcher.pins.scope import Scope
from watcher.pins.shell import Reader, is_live
from watcher.pins.text import Place, unknown
from watcher.pins.values import ALWAYS, MOST, Value, is_compatible, just, under
from watcher.pins.words import Fields

_ALTERNATIVES = 6
_MATTERS = re.compile(r"\bdocker\b|\s*(?:cd|export)\s")


def execute(shell: Reader, words: list[PyValue], folder: PyValue, place: Place, scope: Scope) -> None:
    """Give a list of words to the shell reader, as run in a folder; the call that starts it stands at the place."""
    alternatives: list[Fields] = [Fields(ALWAYS, ())]
    for word in words[:MOST_ITEMS]:
        value = under(cases(word), scope.guard) or just(unknown("word", place))
        alternatives = [
            Fields(one.guard | case.guard, (*one.fields, case.text))
            for one in alternatives
            for case in value[:_ALTERNATIVES]
            if is_compatible(one.guard, case.guard)
        ][:MOST]
    if not alternatives:
        return
    argvs = [Fields(one.guard, installer(one.fields)) for one in alternatives]
    first = argvs[0].fields[0].place() if argvs[0].fields else place
    is_inline = first.file == place.file and first.line >= place.line
    inner = scope.copy()
    if isinstance(folder, tuple):
        enter(folder, inner, place.file)
    shell.execute(argvs, inner, first if is_inline else place)
    scope.folders = inner.folders


def run_line(shell: Reader, value: Value, folder: PyValue, scope: Scope) -> None:
    """Give a line of shell to the shell reader; what it leaves in its folders stays."""
    for case in under(value, scope.guard):
        if not is_live(case.text.chars) and not _MATTERS.search(case.text.chars):
            continue
        inner = scope.copy(case.guard)
        if isinstance(folder, tuple):
            enter(folder, inner, case.text.place().file)
        shell.run(case.text, inner)
        scope.folders = inner.folders


def enter(folder: PyValue, scope: Scope, file: str) -> None:
    """Change the folder of a scope; to an unknown one where the program does not tell it."""
    found = cases(folder)
    text = found[0].text if found else unknown("folder", Place(file, 1))
    scope.enter(text, text.place())
