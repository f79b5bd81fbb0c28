"""What single commands do: where they go, what they run, what they print, and which addresses they fetch."""

import posixpath
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from watcher.pins import gitcommands
from watcher.pins.address import Source, archive_urls, context_source, normalise, vcs_urls
from watcher.pins.call import Call, Shell
from watcher.pins.filters import filtered
from watcher.pins.gomod import upstream_of
from watcher.pins.queries import path_in, queried
from watcher.pins.refkind import is_commit, is_version_like
from watcher.pins.scope import Scope
from watcher.pins.sites import Pick
from watcher.pins.text import Place, Span, Text, joined, unknown, written
from watcher.pins.values import Case, Value, distinct, just, named, under


def run(call: Call) -> None:
    """Do what a command does as far as upstreams are concerned."""
    if not call.argv:
        return
    if call.argv[0].chars in call.arm.functions:
        call.shell.call(call.argv[0].chars, call.argv[1:], call.arm)
        return
    handler = HANDLERS.get(call.name)
    if handler is not None:
        handler(call)
    elif "/" in call.argv[0].chars and _run_file(call, call.argv[0], call.argv[1:]):
        return
    else:
        _other(call)


# --- the shell itself -----------------------------------------------------------------------------------------------


def _cd(call: Call) -> None:
    folders = [text for text in call.argv[1:] if text.chars == "-" or not text.chars.startswith("-")]
    if not folders:
        call.arm.enter(Text((Span("~", call.place),)), call.place)
    elif folders[0].chars == "-":
        call.arm.cwd, call.arm.before = call.arm.before or call.arm.cwd, call.arm.cwd
    else:
        call.arm.enter(folders[0], call.place)


def _pushd(call: Call) -> None:
    call.arm.stack = (*call.arm.stack, call.arm.cwd)
    _cd(call)


def _popd(call: Call) -> None:
    if call.arm.stack:
        call.arm.cwd, call.arm.stack = call.arm.stack[-1], call.arm.stack[:-1]


def _exit(call: Call) -> None:
    call.arm.is_alive = False


def _nothing(_: Call) -> None:
    """Do nothing that matters here."""


def _eval(call: Call) -> None:
    call.shell.run(_as_line(call.argv[1:]), call.arm)


def _as_line(words: tuple[Text, ...]) -> Text:
    blank = Text((Span(" ", words[0].place()),)) if words else Text()
    return joined(part for at, word in enumerate(words) for part in ((blank, word) if at else (word,)))


def _source(call: Call) -> None:
    if call.argv[1:]:
        _run_file(call, call.argv[1], call.argv[2:], is_sourced=True)


def _shell(call: Call) -> None:
    """Read the command of `bash -c`, the file of `bash file`, the text of `bash <<EOF`."""
    for at, text in enumerate(call.argv[1:], 1):
        if re.fullmatch(r"-[A-Za-z]*c[A-Za-z]*", text.chars):
            inner = call.arm.copy()
            inner.arguments = call.argv[at + 3 :]
            call.shell.run(call.argv[at + 1] if at + 1 < len(call.argv) else Text(), inner)
            call.arm.folders = inner.folders
            return
        if text.chars not in {"-o", "-O", "pipefail"} and not text.chars.startswith(("-", "+")):
            _run_file(call, text, call.argv[at + 1 :])
            return
    for case in call.stdin or ():
        inner = call.arm.copy(case.guard)
        call.shell.run(case.text, inner)
        call.arm.folders = inner.folders


def _run_file(call: Call, path: Text, arguments: tuple[Text, ...], *, is_sourced: bool = False) -> bool:
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


def _set(call: Call) -> None:
    if "--" in call.words:
        at = call.words.index("--") + 1
        call.arm.arguments = call.argv[at + 1 :]


def _shift(call: Call) -> None:
    count = int(call.words[0]) if call.words and call.words[0].isascii() and call.words[0].isdigit() else 1
    if call.arm.arguments is not None:
        call.arm.arguments = call.arm.arguments[min(count, 99) :]


def _read(call: Call) -> None:
    names = tuple(word for word in call.words if re.fullmatch(r"[A-Za-z_]\w*", word))
    if call.stdin:
        line = call.stdin[0].text
        read_into(call.arm, names, line[: _first_line(line.chars)], call.separator)
        return
    for name in names:
        call.arm.assign(name, just(unknown(name, call.place)))


def _map_file(call: Call) -> None:
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


def _unset(call: Call) -> None:
    for word in call.words:
        call.arm.variables.pop(word, None)


# --- what is printed ------------------------------------------------------------------------------------------------


def _echo(call: Call) -> None:
    words = call.argv[1:]
    while words and re.fullmatch(r"-[neE]+", words[0].chars):
        words = words[1:]
    if call.name == "printf" and words:
        is_format = "%" in words[0].chars
        words = words[1:] if is_format else words[:1]
    line = _as_line(words)
    call.shell.print(just(line))
    if call.target:
        _fetch(call, words)


def _cat(call: Call) -> None:
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
                _record(call, text, vcs_urls(text.chars))


def _filter(call: Call) -> None:
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


def _query(call: Call) -> None:
    """Print the scalar at a path of a structured file, or of what comes in."""
    keys = path_in(call.words)
    values = [file_value(call.shell, call.arm, just(text), call.place) for text in call.argv[2:]]
    source = next((value for value in values if value), call.stdin)
    results = [Case(text, case.guard) for case in source or () if keys and (text := queried(keys, case.text))]
    call.shell.print(distinct(results) if results and source and len(results) == len(source) else None)


def _may_be_file(word: str) -> bool:
    return not word.startswith("-") and bool(re.search(r"[./]", word)) and not re.search(r"[\s{}*\\^]", word)


def _basename(call: Call) -> None:
    """Print the last part of a path or an address, without a suffix that is named beside it."""
    words = [text for text in call.argv[1:] if not text.chars.startswith("-")]
    if not words:
        return
    path = words[0][: len(words[0].chars.rstrip("/"))]
    name = path[path.chars.rfind("/") + 1 :]
    suffix = words[1].chars if len(words) > 1 else ""
    call.shell.print(just(name[: len(name.chars) - len(suffix)] if suffix and name.chars.endswith(suffix) else name))


def _dirname(call: Call) -> None:
    for text in [text for text in call.argv[1:] if text.chars != "--"][:1]:
        cut = text.chars.rstrip("/").rfind("/")
        call.shell.print(just(text[:cut] if cut > 0 else Text((Span("/" if cut == 0 else ".", call.place),))))


def _pwd(call: Call) -> None:
    call.shell.print(call.arm.cwd)


def _unprinted(call: Call) -> None:
    call.shell.print(None)


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


# --- what is fetched ------------------------------------------------------------------------------------------------

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


_MOST_LINES = 500
_GIT = re.compile(r"-[Cc]|clone|checkout|fetch|init|remote|switch|reset|submodule|pull|lfs|worktree|subtree|archive")
_SHELL_NAMES = frozenset({"sh", "bash", "dash", "zsh", "ksh", "ash"})


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
    _fetch(call, call.argv[1:])


def _fetch(call: Call, words: tuple[Text, ...]) -> None:
    for text in words:
        if "://" in text.chars or "git+" in text.chars:
            _record(call, text, [*vcs_urls(text.chars), *archive_urls(text.chars)])


def _record(call: Call, text: Text, sources: Iterator[tuple[int, Source]] | list[tuple[int, Source]]) -> None:
    for offset, source in sources:
        record(call, text[offset:], source)


def record(call: Call, text: Text, source: Source) -> None:
    """Remember an address that carries its own ref."""
    call.shell.picks.append(
        Pick(
            upstream=source.upstream,
            url=text,
            ref=text[source.ref.start : source.ref.end] if source.ref else None,
            command=text.place(),
            guard=call.arm.guard,
            labels=call.arm.labels,
            hint=source.hint,
            branch=text[source.branch.start : source.branch.end].chars if source.branch else None,
        )
    )


_WITH_URL = {
    "cargo": ("--git", ("--rev", "--tag", "--branch")),
    "repo": ("-u", ("-b", "--manifest-branch")),
    "west": ("-m", ("--mr", "--manifest-rev")),
    "git-repo": ("-u", ("-b", "--manifest-branch")),
}


def _with_url(call: Call) -> None:
    """Read tools that take an address and a ref as options: `cargo install --git URL --rev REF`."""
    url_option, ref_options = _WITH_URL[call.name]
    options = _options(call)
    url = options.get(url_option) or options.get("--manifest-url")
    upstream = normalise(url.chars) if url else None
    if url is None or upstream is None:
        _other(call)
        return
    ref = next((options[name] for name in ref_options if name in options), None)
    call.shell.picks.append(
        Pick(
            upstream=upstream, url=url, ref=ref, command=call.place, guard=call.arm.guard, labels=call.arm.labels,
            hint=gitcommands.HINTS.get(next((name for name in ref_options if name in options), "")),
        )
    )  # fmt: skip


def _options(call: Call) -> dict[str, Text]:
    found: dict[str, Text] = {}
    for at, text in enumerate(call.argv[1:], 1):
        name, equals, _ = text.chars.partition("=")
        if equals and name.startswith("-"):
            found.setdefault(name, text[len(name) + 1 :])
        elif name.startswith("-") and at + 1 < len(call.argv):
            found.setdefault(name, call.argv[at + 1])
    return found


def _docker(call: Call) -> None:
    """Read a git address as build context: `docker build https://host/a/b.git#ref`."""
    if "build" in call.words:
        for text in call.argv[1:]:
            source = context_source(text.chars)
            if source is not None:
                record(call, text, source)
    _other(call)


_NPM = re.compile(r"(?:github:)?(?P<repo>[\w.-]+/[\w.-]+)#(?P<ref>[^\s:]+)")


def _npm(call: Call) -> None:
    for text in call.argv[2:]:
        found = _NPM.fullmatch(text.chars)
        if found:
            upstream = f"https://github.com/{found['repo'].removesuffix('.git')}"
            call.shell.picks.append(
                Pick(
                    upstream=upstream, url=text, ref=text[found.start("ref") : found.end("ref")], command=call.place,
                    guard=call.arm.guard, labels=call.arm.labels,
                )
            )  # fmt: skip
    _other(call)


_GO_QUERIES = frozenset({"latest", "upgrade", "patch", "none"})
"""What stands for a released version of a Go module."""
_GO = re.compile(r"(?P<module>[\w.-]+\.[\w-]+/[\w./~-]+)@(?:v\d+\.\d+\.\d+-(?:[\w.]+\.)?\d{14}-)?(?P<ref>[\w./-]+)")
_GO_RELEASE = re.compile(r"v\d.*")


def _go(call: Call) -> None:
    """Read `go install module@commit`, also where the commit ends a pseudo-version."""
    for text in call.argv[2:]:
        found = _GO.fullmatch(text.chars)
        upstream = upstream_of(found["module"]) if found and _is_go_ref(found["ref"]) else None
        if found and upstream:
            call.shell.picks.append(
                Pick(
                    upstream=upstream, url=text, ref=text[found.start("ref") :], command=call.place,
                    guard=call.arm.guard, labels=call.arm.labels,
                )
            )  # fmt: skip
    _other(call)


def _is_go_ref(ref: str) -> bool:
    """Answer whether a version of a Go module is a commit or a branch and not a release."""
    is_released = ref in _GO_QUERIES or _GO_RELEASE.fullmatch(ref) or is_version_like(ref)
    return is_commit(ref) or not is_released


def _gh(call: Call) -> None:
    if call.words[:2] != ["repo", "clone"] or len(call.argv) < 4:  # noqa: PLR2004 - gh repo clone NAME
        _other(call)
        return
    name = call.argv[3]
    url = (
        name
        if "://" in name.chars or "@" in name.chars
        else Text((Span("https://github.com/", name.place()), *name.spans))
    )
    rest = tuple(text for text in call.argv[4:] if text.chars != "--")
    gitcommands.run(replace(call, argv=(call.argv[0], Text((Span("clone", call.place),)), *rest[:0], url, *rest)))


_LOADED = re.compile(
    r"(?:json|yaml|toml|tomllib)\.(?:safe_)?load\(\s*open\(\s*[\"'](?P<file>[^\"'\n]+)[\"'][^()\n]*\)\s*\)"
    r"(?P<keys>(?:\[\s*(?:[\"'][^\"'\n]+[\"']|\d+)\s*\])+)"
)


def _python(call: Call) -> None:
    """Print what `python -c` takes out of a structured file: `json.load(open("x"))["a"]`; all else is as elsewhere."""
    code = call.words[1] if call.words[:1] == ["-c"] and len(call.words) > 1 else ""
    found = _LOADED.search(code) if "print" in code or "write" in code else None
    if found is None:
        _other(call)
        return
    keys = tuple(re.findall(r"[^\[\]\s\"']+", found["keys"]))
    name = call.argv[2][found.start("file") : found.end("file")]
    values = file_value(call.shell, call.arm, just(name), call.place) or ()
    results = [Case(text, case.guard) for case in values if (text := queried(keys, case.text))]
    call.shell.print(distinct(results) if results else None)


Handler = Callable[[Call], None]
HANDLERS: Mapping[str, Handler] = {
    "cd": _cd,
    "pushd": _pushd,
    "popd": _popd,
    "exit": _exit,
    "return": _exit,
    "eval": _eval,
    "source": _source,
    ".": _source,
    "set": _set,
    "shift": _shift,
    "read": _read,
    "mapfile": _map_file,
    "readarray": _map_file,
    "python": _python,
    "python3": _python,
    "unset": _unset,
    "echo": _echo,
    "printf": _echo,
    "cat": _cat,
    "tee": _cat,
    "git": gitcommands.run,
    "gh": _gh,
    "docker": _docker,
    "podman": _docker,
    "buildah": _docker,
    "nerdctl": _docker,
    "basename": _basename,
    "dirname": _dirname,
    "pwd": _pwd,
    "npm": _npm,
    "yarn": _npm,
    "pnpm": _npm,
    "go": _go,
    **dict.fromkeys(_WITH_URL, _with_url),
    **dict.fromkeys(_PREFIXES, _prefixed),
    **dict.fromkeys(_SHELL_NAMES, _shell),
    **dict.fromkeys(("head", "tail", "tr", "sort", "uniq", "grep", "egrep", "sed", "awk", "gawk", "cut"), _filter),
    **dict.fromkeys(("jq", "yq", "tomlq"), _query),
    **dict.fromkeys(("wc", "perl"), _unprinted),
    **dict.fromkeys((":", "true", "false", "test", "[", "trap", "mkdir", "rm", "ls"), _nothing),
    **dict.fromkeys(("apt-get", "apt", "yum", "dnf", "apk"), _nothing),
}  # fmt: skip
