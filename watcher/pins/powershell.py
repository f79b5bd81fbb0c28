"""PowerShell in its simple forms, read as the shell commands that it amounts to."""

import re
from collections.abc import Callable, Iterable

from watcher.pins.checkout import Checkout
from watcher.pins.filling import beside, rewritten
from watcher.pins.format import Broken
from watcher.pins.shell import read_script
from watcher.pins.sites import Sighting
from watcher.pins.text import Text, joined, written

_BLOCK_COMMENT = re.compile(r"<#.*?#>", re.DOTALL)
_CONTINUED = re.compile(r"`[ \t]*(?=\n)")
_BACKSLASH = re.compile(r"\\(?!\n)")
_VARIABLE = re.compile(r"\$\{?(?:env|script|global|local):(\w+)\}?|\$\(\s*\$(?:env:)?(\w+)\s*\)", re.IGNORECASE)
_ASSIGN = re.compile(
    r"(?:^|(?<=[;{(,]))([ \t]*)(?:\[[\w.\[\]]+\]\s*)?\$\{?(\w+)\}?[ \t]*=[ \t]*(?P<value>(?:\"[^\"\n]*\"|'[^'\n]*')[ \t]*(?=[,)\n])|[^\n;]*)",  # noqa: E501 - one expression
    re.MULTILINE,
)
_CONTENT = re.compile(
    r"\(?\s*(?:Get-Content|gc|cat|type|\[[\w.]*File\]::ReadAllText\()\s*(?:-Raw\s+)?(?:-(?:Literal)?Path\s+)?(?P<file>\"[^\"\n]*\"|'[^'\n]*'|[^\s)|;]+)[^\n]*",
    re.IGNORECASE,
)
_OPENING = re.compile(
    r"^[ \t]*\}?[ \t]*(?:if|elseif|else|foreach|for|while|do|try|catch|finally|switch|function|process|begin|end)\b[^\n{]*\{[ \t]*",  # noqa: E501 - one expression
    re.MULTILINE | re.IGNORECASE,
)
_CLOSING = re.compile(r"^[ \t]*[})][ \t;)]*$|[ \t]\}[ \t]*$", re.MULTILINE | re.IGNORECASE)
_PARAMETERS = re.compile(r"(?:\[CmdletBinding\(\)\]\s*)?\bparam\s*\(|\[Parameter\([^)\n]*\)\]", re.IGNORECASE)
_COMMANDS = (
    (re.compile(r"^([ \t]*)&[ \t]+", re.MULTILINE), ""),
    (
        re.compile(
            r"(?:^|(?<=;))[ \t]*(?:Set-Location|sl|chdir|cd)[ \t]+(?:-(?:Literal)?Path[ \t]+)?",
            re.MULTILINE | re.IGNORECASE,
        ),
        "cd ",
    ),
    (
        re.compile(
            r"(?:^|(?<=;))[ \t]*(?:Push-Location|pushd)[ \t]+(?:-(?:Literal)?Path[ \t]+)?", re.MULTILINE | re.IGNORECASE
        ),
        "pushd ",
    ),
    (re.compile(r"(?:^|(?<=;))[ \t]*(?:Pop-Location|popd)\b", re.MULTILINE | re.IGNORECASE), "popd"),
    (
        re.compile(
            r"(?:^|(?<=;))[ \t]*(?:Write-(?:Host|Output|Verbose|Warning|Error|Debug)|throw)\b",
            re.MULTILINE | re.IGNORECASE,
        ),
        "echo",
    ),
    (re.compile(r"(?:^|(?<=;))[ \t]*(?:exit|return)\b[^\n;]*", re.MULTILINE | re.IGNORECASE), "true"),
    (re.compile(r"\bgit\.exe\b", re.IGNORECASE), "git"),
)


def claims(path: str) -> bool:
    """Answer whether a file is a PowerShell script."""
    return path.lower().endswith((".ps1", ".psm1"))


def parse(path: str, text: str, checkout: Checkout) -> Iterable[Sighting | Broken]:
    """Find what a script does with upstreams."""
    yield from read_script(as_shell(written(text, path)), path, checkout)


def as_shell(source: Text) -> Text:
    """Return the shell text that a script amounts to; what branches is read as if all of it ran."""
    text = rewritten(source, _BLOCK_COMMENT, lambda found, piece: beside("\n" * found[0].count("\n"), piece))
    text = rewritten(text, _OPENING, lambda _, piece: beside(" ", piece))
    text = rewritten(text, _PARAMETERS, lambda _, piece: beside("; ", piece))
    text = rewritten(text, _CLOSING, lambda _, piece: beside(" ", piece))
    text = rewritten(text, _CONTINUED, lambda _, piece: beside("\\", piece))
    text = rewritten(text, _BACKSLASH, lambda _, piece: beside("/", piece))
    text = rewritten(text, _VARIABLE, lambda found, piece: beside(f"${{{found[1] or found[2]}}}", piece))
    text = rewritten(text, _ASSIGN, _assignment)
    for pattern, command in _COMMANDS:
        text = rewritten(text, pattern, _constant(command))
    return text


def _constant(command: str) -> Callable[[re.Match[str], Text], Text]:
    return lambda _, piece: beside(command, piece)


def _assignment(found: re.Match[str], piece: Text) -> Text:
    """Write `$X = 'v'` as `X='v'`, `$X = Get-Content f` as `X=$(cat f)`, `$X = git …` as `X=$(git …)`."""
    value = piece[found.start("value") - found.start() :]
    name = beside(f"{found[2]}=", piece)
    content = _CONTENT.fullmatch(value.chars.strip())
    if content:
        start = value.chars.index(content["file"])
        return joined((name, beside("$(cat ", piece), value[start : start + len(content["file"])], beside(")", piece)))
    stripped = value[: len(value.chars.rstrip(" \t,)"))] if not value.chars.lstrip().startswith("(") else value
    if re.fullmatch(r"\"[^\"\n]*\"|'[^'\n]*'|[\w./:@+-]+|\$\{?\w+\}?", stripped.chars):
        return joined((name, stripped))
    if re.match(r"&?\s*\"?git\b", stripped.chars):
        return joined((name, beside("$(", piece), stripped, beside(")", piece)))
    return joined((name, beside("$(unknown_value)", piece)))
