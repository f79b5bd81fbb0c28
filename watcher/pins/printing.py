"""What commands print, and what they write into files."""

import re

from watcher.pins.call import Call
from watcher.pins.fetched import fetch, requirements
from watcher.pins.filevalues import file_value
from watcher.pins.filters import filtered
from watcher.pins.queries import path_in, queried
from watcher.pins.shellbuiltins import as_line
from watcher.pins.text import Span, Text
from watcher.pins.values import Case, distinct, just

_LOADED = re.compile(
    r"(?:json|yaml|toml|tomllib)\.(?:safe_)?load\(\s*open\(\s*[\"'](?P<file>[^\"'\n]+)[\"'][^()\n]*\)\s*\)"
    r"(?P<keys>(?:\[\s*(?:[\"'][^\"'\n]+[\"']|\d+)\s*\])+)"
)


def echo(call: Call) -> None:
    """Print words."""
    words = call.argv[1:]
    while words and re.fullmatch(r"-[neE]+", words[0].chars):
        words = words[1:]
    if call.name == "printf" and words:
        is_format = "%" in words[0].chars
        words = words[1:] if is_format else words[:1]
    line = as_line(words)
    call.shell.print(just(line))
    if call.target:
        fetch(call, words)


def cat(call: Call) -> None:
    """Print files, or what comes in."""
    files = [text for text in call.argv[1:] if not text.chars.startswith("-")]
    if not files:
        call.shell.print(call.stdin)
        if call.target or call.name == "tee":
            _written(call)
        return
    for text in files:
        call.shell.print(file_value(call.shell, call.arm, just(text), call.place))


def _written(call: Call) -> None:
    """Look at what a heredoc writes into a file: a list of requirements, or a script that runs later."""
    target = call.target or (call.words[-1] if call.words else "")
    for case in call.stdin or ():
        if target.endswith((".sh", ".bash")) or case.text.chars.startswith(
            ("#!/bin/sh", "#!/bin/bash", "#!/usr/bin/env bash")
        ):
            inner = call.arm.copy(case.guard)
            inner.arguments = None
            call.shell.run(case.text, inner)
            continue
        for line in re.finditer(r"[^\n]+", case.text.chars):
            if not line[0].lstrip().startswith(("#", "//")):
                text = case.text[line.start() : line.end()]
                requirements(call, text)


def filter_(call: Call) -> None:
    """Print what a text filter lets through of a file or of what comes in."""
    words = call.words
    named_files = [
        file_value(call.shell, call.arm, just(text), call.place) for text in call.argv[2:] if _may_be_file(text.chars)
    ]
    source = next((value for value in named_files if value), call.stdin)
    results = [
        Case(text, case.guard) for case in source or () if (text := filtered(call.name, words, case.text)) is not None
    ]
    call.shell.print(distinct(results) if source and len(results) == len(source) else None)


def query(call: Call) -> None:
    """Print the scalar at a path of a structured file, or of what comes in."""
    keys = path_in(call.words)
    values = [file_value(call.shell, call.arm, just(text), call.place) for text in call.argv[2:]]
    source = next((value for value in values if value), call.stdin)
    results = [Case(text, case.guard) for case in source or () if keys and (text := queried(keys, case.text))]
    call.shell.print(distinct(results) if results and source and len(results) == len(source) else None)


def _may_be_file(word: str) -> bool:
    return not word.startswith("-") and bool(re.search(r"[./]", word)) and not re.search(r"[\s{}*\\^]", word)


def basename(call: Call) -> None:
    """Print the last part of a path or an address, without a suffix that is named beside it."""
    words = [text for text in call.argv[1:] if not text.chars.startswith("-")]
    if not words:
        return
    path = words[0][: len(words[0].chars.rstrip("/"))]
    name = path[path.chars.rfind("/") + 1 :]
    suffix = words[1].chars if len(words) > 1 else ""
    call.shell.print(just(name[: len(name.chars) - len(suffix)] if suffix and name.chars.endswith(suffix) else name))


def dirname(call: Call) -> None:
    """Print a path without its last part."""
    for text in [text for text in call.argv[1:] if text.chars != "--"][:1]:
        cut = text.chars.rstrip("/").rfind("/")
        call.shell.print(just(text[:cut] if cut > 0 else Text((Span("/" if cut == 0 else ".", call.place),))))


def pwd(call: Call) -> None:
    """Print the folder."""
    call.shell.print(call.arm.cwd)


def unprinted(call: Call) -> None:
    """Print something unknown."""
    call.shell.print(None)


def python(call: Call) -> bool:
    """Print what `python -c` takes out of a structured file: `json.load(open("x"))["a"]`."""
    code = call.words[1] if call.words[:1] == ["-c"] and len(call.words) > 1 else ""
    found = _LOADED.search(code) if "print" in code or "write" in code else None
    if found is None:
        return False
    keys = tuple(re.findall(r"[^\[\]\s\"']+", found["keys"]))
    name = call.argv[2][found.start("file") : found.end("file")]
    values = file_value(call.shell, call.arm, just(name), call.place) or ()
    results = [Case(text, case.guard) for case in values if (text := queried(keys, case.text))]
    call.shell.print(distinct(results) if results else None)
    return True
