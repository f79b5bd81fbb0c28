"""What git commands do to a local repository: where it comes from, and which ref is checked out."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from watcher.model import RefKind
from watcher.pins.address import normalise
from watcher.pins.call import Call
from watcher.pins.sites import Pick, Site, is_upstream_ref
from watcher.pins.text import UNKNOWN, Text
from watcher.pins.values import Guard, just

HINTS: Mapping[str, RefKind] = {"--tag": RefKind.TAG}
"""Options whose name says what their ref is."""
_BEFORE = frozenset({"-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path", "--config-env"})
_WITH_VALUE: Mapping[str, frozenset[str]] = {
    "clone": frozenset(
        [
            "-b",
            "--branch",
            "-o",
            "--origin",
            "-u",
            "--upload-pack",
            "--reference",
            "--reference-if-able",
            "--template",
            "-c",
            "--config",
            "--depth",
            "--shallow-since",
            "--shallow-exclude",
            "--filter",
            "-j",
            "--jobs",
            "--separate-git-dir",
            "--server-option",
            "--bundle-uri",
            "--revision",
            "--ref-format",
        ]
    ),
    "fetch": frozenset(
        [
            "--depth",
            "--deepen",
            "--shallow-since",
            "--shallow-exclude",
            "-j",
            "--jobs",
            "-o",
            "--server-option",
            "--filter",
            "--refmap",
            "--upload-pack",
            "--negotiation-tip",
            "--recurse-submodules-default",
        ]
    ),
    "checkout": frozenset(["-b", "-B", "--orphan", "--conflict", "--pathspec-from-file"]),
    "switch": frozenset(["-c", "-C", "--create", "--force-create", "--orphan", "--conflict"]),
    "submodule": frozenset(["-b", "--branch", "--name", "--reference", "--depth", "-j", "--jobs"]),
    "remote": frozenset(["-t", "-m", "--track", "--master"]),
    "init": frozenset(["-b", "--initial-branch", "--template", "--separate-git-dir", "--object-format"]),
    "worktree": frozenset(["-b", "-B", "--reason"]),
    "subtree": frozenset(["-P", "--prefix", "-m", "--message", "-b", "--branch"]),
    "archive": frozenset(["--format", "--prefix", "-o", "--output", "--remote", "--exec"]),
    "branch": frozenset(["-u", "--set-upstream-to"]),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Git:
    """One git command, taken apart."""

    call: Call
    folder: Text | None
    """`-C`, or None for the current folder."""
    options: Sequence[tuple[str, Text | None]]
    words: tuple[Text, ...]
    """What is no option, up to `--`."""
    has_paths: bool
    """There was a `--` with something behind it."""

    def option(self, *names: str) -> Text | None:
        """Return the value of the last of some options."""
        return next((value for name, value in reversed(self.options) if name in names and value is not None), None)

    def has(self, *names: str) -> bool:
        """Answer whether an option is there."""
        return any(name in names for name, _ in self.options)

    def pick(self, upstream: str, url: Text, ref: Text | None, guard: Guard = frozenset()) -> Pick:
        """Return a use of an upstream by this command."""
        arm = self.call.arm
        return Pick(
            upstream=upstream,
            url=url,
            ref=ref or None,
            command=self.call.place,
            guard=arm.guard | guard,
            labels=arm.labels,
        )

    def sites(self) -> list[tuple[Guard, Site]]:
        """Return the repositories that the command works on."""
        return self.call.arm.sites(self.folder)


def run(call: Call) -> None:
    """Do what a git command does."""
    folder, at = _folder(call.argv)
    name = call.argv[at].chars if at < len(call.argv) else ""
    if name == "lfs" and at + 1 < len(call.argv) and call.argv[at + 1].chars == "clone":
        at, name = at + 1, "clone"
    handler = _HANDLERS.get(name)
    if name not in _SILENT:
        call.shell.print(None)
    if handler is not None:
        with_value = _WITH_VALUE.get(name, frozenset())
        handler(_taken_apart(call, folder, call.argv[at + 1 :], with_value, takes_paths=name in _TAKE_PATHS))


def _folder(argv: tuple[Text, ...]) -> tuple[Text | None, int]:
    """Read the options before the subcommand; return the folder they name and where the subcommand stands."""
    folder, at = None, 1
    while at < len(argv) and argv[at].chars.startswith("-"):
        word = argv[at].chars
        if word == "-C" and at + 1 < len(argv):
            folder = argv[at + 1]
        elif word.startswith("--git-dir="):
            path = argv[at][len("--git-dir=") :]
            folder = path[: -len("/.git")] if path.chars.endswith("/.git") else path
        at += 2 if word in _BEFORE else 1
    return folder, at


def _taken_apart(
    call: Call, folder: Text | None, argv: tuple[Text, ...], with_value: frozenset[str], *, takes_paths: bool
) -> _Git:
    options: list[tuple[str, Text | None]] = []
    words: list[Text] = []
    at = 0
    while at < len(argv):
        text = argv[at]
        at += 1
        if text.chars == "--":
            if not takes_paths:  # what follows are still words, only no options
                words += argv[at:]
                break
            return _Git(call=call, folder=folder, options=options, words=tuple(words), has_paths=at < len(argv))
        if text.chars.startswith("--") and "=" in text.chars:
            cut = text.chars.index("=")
            options.append((text.chars[:cut], text[cut + 1 :]))
        elif text.chars.startswith("--"):
            takes = text.chars in with_value and at < len(argv)
            options.append((text.chars, argv[at] if takes else None))
            at += takes
        elif re.match(r"-[A-Za-z]", text.chars):
            at += _short(text, argv[at : at + 1], with_value, options)
        elif text.chars:
            words.append(text)
    return _Git(call=call, folder=folder, options=options, words=tuple(words), has_paths=False)


def _short(
    text: Text, following: tuple[Text, ...], with_value: frozenset[str], options: list[tuple[str, Text | None]]
) -> int:
    """Read a cluster such as `-qb NAME`; return how many further words it takes."""
    for at, letter in enumerate(text.chars[1:], 1):
        if f"-{letter}" in with_value:
            rest = text[at + 1 :]
            options.append((f"-{letter}", rest or (following[0] if following else None)))
            return int(not rest and bool(following))
        options.append((f"-{letter}", None))
    return 0


# --- where a repository comes from ----------------------------------------------------------------------------------


def _clone(git: _Git) -> None:
    words = git.words
    if words and words[0].chars == UNKNOWN and len(words) > 1 and normalise(words[1].chars):
        words = words[1:]  # options that the files do not tell
    if not words:
        return
    url = words[0]
    folder = _inside(git.folder, words[1] if len(words) > 1 else _folder_of(url))
    _settle(git, url, folder, git.option("-b", "--branch", "--revision"), git.option("-o", "--origin"))


def _settle(git: _Git, url: Text, folder: Text, ref: Text | None, remote: Text | None = None) -> None:
    upstream = normalise(url.chars)
    local = git.call.arm.sites(url) if upstream is None else []
    if local:  # a clone of a clone
        git.call.arm.settle(local[-1][1], folder)
        return
    site = Site(origin=git.pick(upstream, url, ref) if upstream else None, guard=git.call.arm.guard)
    if upstream:
        site.remotes[remote.chars if remote else "origin"] = (upstream, url)
        git.call.shell.sites.append(site)
    git.call.arm.settle(site, folder)


def _folder_of(url: Text) -> Text:
    chars = url.chars.rstrip("/").removesuffix("/.git").removesuffix(".git")
    start = max(chars.rfind("/"), chars.rfind(":")) + 1
    return url[start : len(chars)]


def _inside(folder: Text | None, path: Text) -> Text:
    """Return a path as seen from `-C`."""
    if folder is None or path.chars.startswith(("/", "~", UNKNOWN)):
        return path
    slash = folder.spans[0].cut(0, 1)._replace(chars="/", name="") if folder.spans else None
    return Text((*folder.spans, *([slash] if slash else []), *path.spans))


def _init(git: _Git) -> None:
    site = Site(origin=None, guard=git.call.arm.guard)
    folder = _inside(git.folder, git.words[0]) if git.words else git.folder
    if any(True for _ in git.call.arm.sites(folder)) and not git.words:
        return
    git.call.shell.sites.append(site)
    git.call.arm.settle(site, folder)


def _remote(git: _Git) -> None:
    if len(git.words) < 3 or git.words[0].chars not in {"add", "set-url"}:  # noqa: PLR2004 - add NAME URL
        return
    name, url = git.words[1], git.words[2]
    upstream = normalise(url.chars)
    for _, site in git.sites():
        if upstream:
            site.remotes[name.chars] = (upstream, url)
        else:
            site.remotes.pop(name.chars, None)


def _submodule(git: _Git) -> None:
    if len(git.words) < 2 or git.words[0].chars != "add":  # noqa: PLR2004 - add URL
        return
    url = git.words[1]
    folder = _inside(git.folder, git.words[2] if len(git.words) > 2 else _folder_of(url))  # noqa: PLR2004 - add URL PATH
    _settle(git, url, folder, git.option("-b", "--branch"))


def _subtree(git: _Git) -> None:
    if len(git.words) >= 2 and git.words[0].chars in {"add", "pull"}:  # noqa: PLR2004 - add URL REF
        upstream = normalise(git.words[1].chars)
        if upstream:
            git.call.shell.picks.append(git.pick(upstream, git.words[1], (*git.words, None)[2]))


def _archive(git: _Git) -> None:
    url = git.option("--remote")
    upstream = normalise(url.chars) if url else None
    if url and upstream and git.words:
        git.call.shell.picks.append(git.pick(upstream, url, git.words[0]))


# --- what is fetched ------------------------------------------------------------------------------------------------


def _fetch(git: _Git) -> list[Pick]:
    """Remember what a fetch brings; return it for each repository."""
    words = git.words
    found: list[Pick] = []
    tag = words[2] if len(words) > 2 and words[1].chars == "tag" else None  # noqa: PLR2004 - fetch REMOTE tag NAME
    for guard, site in git.sites() or _elsewhere(git):
        source = _remote_of(site, words[0]) if words else site.remotes.get("origin")
        if source is None:
            continue
        refspecs: Sequence[Text | None] = [tag] if tag else words[1:]
        for refspec in refspecs or [None]:
            ref, local = _refspec(refspec)
            pick = git.pick(*source, ref, guard)
            site.fetched.append(pick)
            found.append(pick)
            if local and ref:
                site.names[local] = pick
    return found


def _elsewhere(git: _Git) -> list[tuple[Guard, Site]]:
    """Return a new repository for a fetch by address where no command made the folder."""
    if not git.words or normalise(git.words[0].chars) is None:
        return []
    site = Site(origin=None, guard=git.call.arm.guard)
    git.call.shell.sites.append(site)
    git.call.arm.settle(site, git.folder)
    return [(frozenset(), site)]


def _remote_of(site: Site, word: Text) -> tuple[str, Text] | None:
    if word.chars in site.remotes:
        return site.remotes[word.chars]
    upstream = normalise(word.chars)
    return (upstream, word) if upstream else None


def _refspec(text: Text | None) -> tuple[Text | None, str]:
    """Read `+refs/heads/x:refs/remotes/origin/x`: what is fetched, and the local name it gets."""
    if text is None:
        return None, ""
    start = int(text.chars.startswith("+"))
    cut = text.chars.find(":")
    source = text[start : cut if cut >= 0 else len(text.chars)]
    local = re.sub(r"^(?:refs/)?(?:heads|remotes/\w+)/", "", text.chars[cut + 1 :]) if cut >= 0 else ""
    return (None if "*" in source.chars or not source or source.chars == "HEAD" else source), local


def _pull(git: _Git) -> None:
    picks = _fetch(git)
    if len(git.words) < 2:  # noqa: PLR2004 - pull REMOTE REF
        return
    for _, site in git.sites():
        is_bare = site.origin is None or site.origin.ref is None
        site.picks += [pick for pick in picks if is_bare and pick.ref and any(pick is other for other in site.fetched)]
        site.used |= {id(pick) for pick in picks}


def _take(git: _Git) -> None:
    """Remember that a fetched commit was merged or picked from: then it is no pin."""
    for _, site in git.sites():
        site.used |= {id(pick) for pick in site.fetched}


# --- what is checked out --------------------------------------------------------------------------------------------


def _checkout(git: _Git) -> None:
    if git.has_paths or len(git.words) > 1 + git.has("-t", "--track"):
        if git.has("-b", "-B") and len(git.words) == 1:
            _select(git, git.words[0])
        return
    created = git.option("-b", "-B", "-c", "-C", "--create", "--force-create")
    if git.has("--orphan"):
        return
    if git.words:
        _select(git, git.words[0], created)


def _reset(git: _Git) -> None:
    if git.words and not git.has_paths and (git.has("--hard", "--keep", "--merge", "--soft") or len(git.words) == 1):
        _select(git, git.words[0])


def _worktree(git: _Git) -> None:
    if len(git.words) >= 2 and git.words[0].chars == "add":  # noqa: PLR2004 - add PATH REF
        for _, site in git.sites()[-1:]:
            git.call.arm.settle(site, _inside(git.folder, git.words[1]))
        if len(git.words) > 2:  # noqa: PLR2004 - add PATH REF
            _select(git, git.words[2])


def _branch(git: _Git) -> None:
    if len(git.words) == 2 and not git.has("-d", "-D", "-m", "-M", "--delete"):  # noqa: PLR2004 - branch NAME REF
        for guard, site in git.sites():
            for pick in _picked(git, site, git.words[1], guard):
                site.names[git.words[0].chars] = pick


def _select(git: _Git, word: Text, created: Text | None = None) -> None:
    for guard, site in git.sites():
        for pick in _picked(git, site, word, guard):
            site.picks.append(pick)
            if created is not None:
                site.names[created.chars] = pick


def _picked(git: _Git, site: Site, word: Text, guard: Guard) -> list[Pick]:
    """Return what a word of a checkout means in a repository: a ref of one of its upstreams, or nothing of theirs."""
    chars = word.chars
    if chars == "FETCH_HEAD":
        return _fetch_head(git, site, guard)
    if chars in site.names:
        site.used.add(id(site.names[chars]))
        return [replace(site.names[chars], guard=git.call.arm.guard | guard)]
    suffix = re.search(r"(?:\^\{\w*\}|\^0)$", chars)
    word = word[: suffix.start()] if suffix else word
    name, _, rest = word.chars.partition("/")
    source = site.remotes.get("origin") or next(iter(site.remotes.values()), None)
    if name in site.remotes and rest and name != "origin":
        source, word = site.remotes[name], word[len(name) + 1 :]
    if source is None or not is_upstream_ref(word.chars) or word.chars in {"origin/HEAD", "."}:
        return []
    site.used |= {id(pick) for pick in site.fetched if pick.ref and pick.ref.chars in {word.chars, rest}}
    return [git.pick(*source, word, guard)]


def _fetch_head(git: _Git, site: Site, guard: Guard) -> list[Pick]:
    if not site.fetched:
        return []
    last = site.fetched[-1].command
    taken = [pick for pick in site.fetched if pick.command == last]
    site.used |= {id(pick) for pick in taken}
    return [replace(pick, guard=pick.guard | git.call.arm.guard | guard) for pick in taken]


def _ls_remote(git: _Git) -> None:
    """Print one ref that is asked for: the commit beside it is what that ref is at."""
    ref = git.words[1] if len(git.words) == 2 and normalise(git.words[0].chars) else None  # noqa: PLR2004 - URL REF
    is_one = ref is not None and (ref.chars == "HEAD" or is_upstream_ref(ref.chars))
    git.call.shell.print(just(ref) if ref is not None and is_one else None)


_HANDLERS: Mapping[str, Callable[[_Git], object]] = {
    "ls-remote": _ls_remote,
    "clone": _clone,
    "init": _init,
    "remote": _remote,
    "submodule": _submodule,
    "subtree": _subtree,
    "archive": _archive,
    "fetch": _fetch,
    "pull": _pull,
    "merge": _take,
    "cherry-pick": _take,
    "rebase": _take,
    "am": _take,
    "checkout": _checkout,
    "switch": _checkout,
    "reset": _reset,
    "worktree": _worktree,
    "branch": _branch,
}
_TAKE_PATHS = frozenset({"checkout", "reset", "switch"})
"""Commands whose words after `--` are paths; those of all others are words like the rest."""
_SILENT = frozenset({*_HANDLERS, "config", "add", "commit", "apply", "clean"})
