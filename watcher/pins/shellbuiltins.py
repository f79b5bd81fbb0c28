"""The commands of the shell itself: where it goes, what it runs, what its variables become."""

import re

from watcher.pins.call import Call
from watcher.pins.scope import Scope
from watcher.pins.text import Span, Text, joined, unknown
from watcher.pins.values import Case, just, named

_MOST_LINES = 500


def cd(call: Call) -> None:
    """Change the folder."""
    folders = [text for text in call.argv[1:] if text.chars == "-" or not text.chars.startswith("-")]
    if not folders:
        call.arm.enter(Text((Span("~", call.place),)), call.place)
    elif folders[0].chars == "-":
        call.arm.cwd, call.arm.before = call.arm.before or call.arm.cwd, call.arm.cwd
    else:
        call.arm.enter(folders[0], call.place)


def pushd(call: Call) -> None:
    """Change the folder and remember the one before."""
    call.arm.stack = (*call.arm.stack, call.arm.cwd)
    cd(call)


def popd(call: Call) -> None:
    """Go back to the folder that was remembered."""
    if call.arm.stack:
        call.arm.cwd, call.arm.stack = call.arm.stack[-1], call.arm.stack[:-1]


def exit_(call: Call) -> None:
    """End the list that this command stands in."""
    call.arm.is_alive = False


def eval_(call: Call) -> None:
    """Run words as a line of shell."""
    call.shell.run(as_line(call.argv[1:]), call.arm)


def as_line(words: tuple[Text, ...]) -> Text:
    """Return words as one line with blanks between them."""
    blank = Text((Span(" ", words[0].place()),)) if words else Text()
    return joined(part for at, word in enumerate(words) for part in ((blank, word) if at else (word,)))


def source(call: Call) -> None:
    """Read a file as if it stood here."""
    if call.argv[1:]:
        run_file(call, call.argv[1], call.argv[2:], is_sourced=True)


def shell(call: Call) -> None:
    """Read the command of `bash -c`, the file of `bash file`, the text of `bash <<EOF`."""
    for at, text in enumerate(call.argv[1:], 1):
        if re.fullmatch(r"-[A-Za-z]*c[A-Za-z]*", text.chars):
            inner = call.arm.copy()
            inner.arguments = call.argv[at + 3 :]
            call.shell.run(call.argv[at + 1] if at + 1 < len(call.argv) else Text(), inner)
            call.arm.folders = inner.folders
            return
        if text.chars not in {"-o", "-O", "pipefail"} and not text.chars.startswith(("-", "+")):
            run_file(call, text, call.argv[at + 1 :])
            return
    for case in call.stdin or ():
        inner = call.arm.copy(case.guard)
        call.shell.run(case.text, inner)
        call.arm.folders = inner.folders


def run_file(call: Call, path: Text, arguments: tuple[Text, ...], *, is_sourced: bool = False) -> bool:
    """Read a script of the checkout where another one runs it; answer whether there is one."""
    name = call.shell.checkout.find(call.shell.aliases.get(path.chars, path.chars), call.place.file)
    text = call.shell.checkout.texts.get(name, "") if name else ""
    if not name or name in call.shell.included or name == call.place.file or not _is_shell(name, text):
        return False
    inner = call.arm if is_sourced else call.arm.copy()
    if not is_sourced:
        inner.arguments, inner.functions = tuple(text.named("") for text in arguments), {}
    call.shell.include(text, name, inner, is_sourced=is_sourced)
    call.arm.folders = inner.folders
    inner.is_alive = True
    return True


def _is_shell(name: str, text: str) -> bool:
    first = text.partition("\n")[0]
    return (
        bool(re.match(r"#!.*\b(?:ba|da|z|k|a)?sh\b", first))
        if first.startswith("#!")
        else name.endswith((".sh", ".bash", ".env"))
    )


def set_(call: Call) -> None:
    """Read `set -- a b`: new arguments."""
    if "--" in call.words:
        at = call.words.index("--") + 1
        call.arm.arguments = call.argv[at + 1 :]


def shift(call: Call) -> None:
    """Drop the first arguments."""
    count = int(call.words[0]) if call.words and call.words[0].isascii() and call.words[0].isdigit() else 1
    if call.arm.arguments is not None:
        call.arm.arguments = call.arm.arguments[min(count, 99) :]


def read(call: Call) -> None:
    """Read a line of what comes in into variables."""
    names = tuple(word for word in call.words if re.fullmatch(r"[A-Za-z_]\w*", word))
    if call.stdin:
        line = call.stdin[0].text
        read_into(call.arm, names, line[: _first_line(line.chars)], call.separator)
        return
    for name in names:
        call.arm.assign(name, just(unknown(name, call.place)))


def _first_line(chars: str) -> int:
    end = chars.find("\n")
    return len(chars) if end < 0 else end


def read_into(scope: Scope, names: tuple[str, ...], line: Text, separator: str | None) -> None:
    """Spread a line over variables as `read` does: the last one takes the rest."""
    marks = re.escape(separator.strip()) if separator and separator.strip() else ""
    pattern = rf"\s*[{marks}]\s*" if marks else r"\s+"
    start, at = len(line.chars) - len(line.chars.lstrip()), 0
    for at, name in enumerate(names):
        rest = line[start : len(line.chars.rstrip())]
        cut = re.search(pattern, rest.chars) if at + 1 < len(names) else None
        piece = rest[: cut.start()] if cut else rest
        scope.assign(name, named(just(piece), name))
        start = start + cut.end() if cut else len(line.chars)


def map_file(call: Call) -> None:
    """Read `mapfile -t A < file`: an array of the lines of what comes in."""
    names = [word for word in call.words if re.fullmatch(r"[A-Za-z_]\w*", word)]
    if not names or not call.stdin:
        return
    lines = [
        Case(case.text[found.start() : found.end()], case.guard)
        for case in call.stdin
        for found in re.finditer(r"[^\n]+", case.text.chars)
    ]
    call.arm.arrays[names[-1]] = tuple((str(at), (line,)) for at, line in enumerate(lines[:_MOST_LINES]))


def unset(call: Call) -> None:
    """Forget variables."""
    for word in call.words:
        call.arm.variables.pop(word, None)
