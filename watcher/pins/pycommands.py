"""Commands that a Python program starts: words and lines for the shell reader."""

import posixpath
import re
from collections.abc import Sequence

from watcher.pins.live import is_live
from watcher.pins.pycall import Call
from watcher.pins.pytexts import installer
from watcher.pins.pyvalues import MOST_ITEMS, PyValue, Seq, cases, plain
from watcher.pins.scope import Scope
from watcher.pins.shell import Reader
from watcher.pins.text import Place, unknown
from watcher.pins.values import ALWAYS, MOST, Value, is_compatible, just, under
from watcher.pins.wordfields import Fields

_ALTERNATIVES = 6
_MATTERS = re.compile(r"\bdocker\b|\s*(?:cd|export)\s")
_RUNS = re.compile(
    r"(?:.*_)?(?:run|runs|call|check_call|check_output|exec|execute|system|popen|shell|sh|cmd|command|commands|bash|spawn|sudo|"
    r"getoutput|getstatusoutput|subprocess|invoke|async_run|create_subprocess_exec|create_subprocess_shell|local)(?:_.*)?",
    re.IGNORECASE,
)
_PROGRAM = re.compile(
    r"git|pip3?|uv|bash|sh|docker|cargo|go|npm|wget|curl|svn|hub|gh|sudo|env|conda|mamba|poetry|make|python3?|repo|west"
)


def is_start(function: str) -> bool:
    """Answer whether a function starts a command, by its name."""
    return _RUNS.fullmatch(function) is not None


def start(call: Call, *, is_command: bool) -> None:
    """Follow a call that starts a command, by its name or because what it is given can be nothing else."""
    first = next(
        (value for value in call.arguments if value is not None),
        call.keywords.get("args", call.keywords.get("cmd", call.keywords.get("command"))),
    )
    folder = call.keywords.get("cwd", call.keywords.get("working_dir", call.keywords.get("workdir")))
    shell, scope = call.program.shell, call.frame.scope
    if isinstance(first, Seq):
        _start_words(call, first, folder, is_command=is_command)
        return
    if not is_command or not isinstance(first, tuple):
        return
    words = [value for value in call.arguments if isinstance(value, tuple)]
    if len(words) > 1 and _PROGRAM.fullmatch(posixpath.basename(plain(first) or "")):
        execute(shell, call.arguments, folder, call.place, scope)
        return
    for value in words:
        run_line(shell, value, folder, scope)


def _start_words(call: Call, words: Seq, folder: PyValue, *, is_command: bool) -> None:
    """Follow a list of words; one that starts with no program is a list of lines."""
    program = posixpath.basename(plain(words.items[0]) or "") if words.items else ""
    if _PROGRAM.fullmatch(program) and (is_command or (program == "git" and len(words.items) > 1)):
        execute(call.program.shell, words.items, folder, call.place, call.frame.scope)
    elif is_command:
        for value in words.items:
            run_line(call.program.shell, cases(value), folder, call.frame.scope)


def execute(shell: Reader, words: Sequence[PyValue], folder: PyValue, place: Place, scope: Scope) -> None:
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
