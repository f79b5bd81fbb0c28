"""What single commands do: each by its name, behind others such as `sudo`, or in the words of an unknown one."""

import posixpath
import re
from collections.abc import Callable, Mapping

from watcher.pins import fetched, gitcommands, printing, shellbuiltins
from watcher.pins.call import Call
from watcher.pins.values import just, named


def run(call: Call) -> None:
    """Do what a command does as far as upstreams are concerned."""
    if not call.argv:
        return
    if call.argv[0].chars in call.arm.functions:
        call.shell.call(call.argv[0].chars, call.argv[1:], call.arm)
        return
    handler = _HANDLERS.get(call.name)
    if handler is not None:
        handler(call)
    elif "/" in call.argv[0].chars and shellbuiltins.run_file(call, call.argv[0], call.argv[1:]):
        return
    else:
        _other(call)


def _nothing(_: Call) -> None:
    """Do nothing that matters here."""


_PREFIXES: Mapping[str, str] = {
    "sudo": "ugCDhpRrTt",
    "env": "uCS",
    "time": "fo",
    "nice": "n",
    "ionice": "cn",
    "nohup": "",
    "command": "",
    "builtin": "",
    "exec": "a",
    "timeout": "ks",
    "stdbuf": "ioe",
    "xargs": "IiLlnPsdaE",
    "setsid": "",
    "doas": "u",
    "gosu": "",
    "then": "",
    "do": "",
}


def _prefixed(call: Call) -> None:
    """Read the command behind `sudo -u x`, `env A=b`, `timeout 10` and the like."""
    with_value = _PREFIXES[call.name]
    at = 1
    while at < len(call.argv):
        word = call.argv[at].chars
        if re.fullmatch(r"[A-Za-z_]\w*=.*", word, re.DOTALL):
            cut = word.index("=")
            call.arm.assign(word[:cut], named(just(call.argv[at][cut + 1 :]), word[:cut]))
        elif not word.startswith("-") and not re.fullmatch(r"\d[\d.]*[smhd]?", word):
            break
        elif len(word) == 2 and word[1] in with_value:  # noqa: PLR2004 - a short option with its value behind it
            at += 1
        at += 1
    if call.name == "gosu":
        at += 1
    run(call.without(at))


_GIT = re.compile(r"-[Cc]|clone|checkout|fetch|init|remote|switch|reset|submodule|pull|lfs|worktree|subtree|archive")
_SHELL_NAMES = frozenset({"sh", "bash", "dash", "zsh", "ksh", "ash"})
_FILTERS = frozenset({"head", "tail", "tr", "sort", "uniq", "grep", "egrep", "sed", "awk", "gawk", "cut"})


def _other(call: Call) -> None:
    """Look for a command inside the words of an unknown one (`retry 3 git clone …`), and for addresses."""
    call.shell.print(None)
    for at, text in enumerate(call.argv[1:], 1):
        after = call.argv[at + 1].chars if at + 1 < len(call.argv) else ""
        name = posixpath.basename(text.chars)
        if name == "git" and _GIT.fullmatch(after):
            run(call.without(at))
            return
        if name in _SHELL_NAMES and re.fullmatch(r"-[a-z]*c[a-z]*", after):
            run(call.without(at))
            return
    for text in call.argv[1:]:
        if " " in text.chars and re.search(r"\bgit (?:clone|fetch|checkout|-C)\b|\bpip3? install\b", text.chars):
            inner = call.arm.copy()
            call.shell.run(text, inner)
    fetched.fetch(call, call.argv[1:])


_Handler = Callable[[Call], None]


def _and_other(handler: _Handler) -> _Handler:
    """Return what a command does that may also be like an unknown one."""

    def both(call: Call) -> None:
        handler(call)
        _other(call)

    return both


def _or_other(attempt: Callable[[Call], bool]) -> _Handler:
    """Return what a command does that is like an unknown one where an attempt to read it fails."""

    def either(call: Call) -> None:
        if not attempt(call):
            _other(call)

    return either


_HANDLERS: Mapping[str, _Handler] = {
    "cd": shellbuiltins.cd,
    "pushd": shellbuiltins.pushd,
    "popd": shellbuiltins.popd,
    "exit": shellbuiltins.exit_,
    "return": shellbuiltins.exit_,
    "eval": shellbuiltins.eval_,
    "source": shellbuiltins.source,
    ".": shellbuiltins.source,
    "set": shellbuiltins.set_,
    "shift": shellbuiltins.shift,
    "read": shellbuiltins.read,
    "mapfile": shellbuiltins.map_file,
    "readarray": shellbuiltins.map_file,
    "python": _or_other(printing.python),
    "python3": _or_other(printing.python),
    "unset": shellbuiltins.unset,
    "echo": printing.echo,
    "printf": printing.echo,
    "cat": printing.cat,
    "tee": printing.cat,
    "git": gitcommands.run,
    "gh": _or_other(fetched.gh),
    "docker": _and_other(fetched.docker),
    "podman": _and_other(fetched.docker),
    "buildah": _and_other(fetched.docker),
    "nerdctl": _and_other(fetched.docker),
    "basename": printing.basename,
    "dirname": printing.dirname,
    "pwd": printing.pwd,
    "npm": _and_other(fetched.npm),
    "yarn": _and_other(fetched.npm),
    "pnpm": _and_other(fetched.npm),
    "go": _and_other(fetched.go),
    **dict.fromkeys(fetched.WITH_URL, _or_other(fetched.with_url)),
    **dict.fromkeys(_PREFIXES, _prefixed),
    **dict.fromkeys(_SHELL_NAMES, shellbuiltins.shell),
    **dict.fromkeys(_FILTERS, printing.filter_),
    **dict.fromkeys(("jq", "yq", "tomlq"), printing.query),
    **dict.fromkeys(("wc", "perl"), printing.unprinted),
    **dict.fromkeys((":", "true", "false", "test", "[", "trap", "mkdir", "rm", "ls"), _nothing),
    **dict.fromkeys(("apt-get", "apt", "yum", "dnf", "apk"), _nothing),
}
