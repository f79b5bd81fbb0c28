"""Run the git program: the one door to it, and to programs at all.

Nothing of the user's git configuration is read, nothing is asked on a terminal, no hook runs, and no missing object is
fetched behind our back. Arguments are lists; addresses are checked before git sees them.
"""

import os
import re
import signal
import subprocess
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from watcher import address
from watcher.errors import GitError
from watcher.model import Oid, oid

_PASSED = frozenset({"GIT_SSL_CAINFO", "GIT_SSL_CAPATH", "GIT_SSL_CERT", "GIT_SSL_KEY", "GIT_SSH_COMMAND", "GIT_SSH"})
"""The only variables of git's own that come through from outside: trust and transport, never places or traces."""

_OURS = frozenset(
    {"CURL_CA_BUNDLE", "HOME", "LOGNAME", "PATH", "SHELL", "SSH_AUTH_SOCK", "TEMP", "TMP", "TMPDIR", "USER"}
)
_OUR_KINDS = ("DYLD_", "FAKETIME", "KRB5", "LD_", "NIX_", "SSL_CERT_", "XDG_")
"""What programs need to run, to find each other, and to trust whom we trust. Nothing else comes along: no token."""

_FIXED = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_FLUSH": "0",  # else each line of a list is written, and read here, by itself
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_LITERAL_PATHSPECS": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "LC_ALL": "C",
    "TZ": "UTC",
}

LARGEST = 4 * 1024 * 1024
"""Bytes of a file above which it is compared with no other: who serves a gibibyte of zeros need not send even one."""

_CONFIG = {
    "core.askPass": "",
    "core.attributesFile": os.devnull,
    "core.bigFileThreshold": str(LARGEST),  # larger ones are binary to git, and go through it in pieces
    "core.fsmonitor": "false",
    "core.hooksPath": os.devnull,
    "core.quotePath": "false",
    "credential.helper": "",
    "gc.auto": "0",
    "http.followRedirects": "false",
    "http.lowSpeedLimit": "1",
    "http.lowSpeedTime": "60",
    "maintenance.auto": "false",
    "protocol.version": "2",
    "submodule.recurse": "false",
}

_MUCH = 4096
"""Bytes of input that are more than a few writes to a pipe."""
_SECRET = re.compile(r"(?<=://)[^/\s@']*@")
_LOCKED = re.compile(rb"Unable to create '([^\n]*\.lock)': File exists")
_GITLINK = "160000"
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]+")
_TRANSIENT = re.compile(
    r"unable to access|could not resolve|connection|timed? ?out|hung up|early eof|rpc failed|disconnect|expected flush"
    r"|unable to create .*\.lock|cannot lock ref|returned error: (?:403|408|429|5\d\d)|could not read from remote"
    r"|invalid server response|unexpected end|bad band|protocol error|gnutls|ssl|curl"
    r"|expected '?(?:acknowledg?ments|packfile)|error processing acks",
    re.IGNORECASE,
)
_FINAL = re.compile(
    r"not found|does not appear to be a git repository|not our ref|unadvertised object|authentication failed"
    r"|terminal prompts disabled",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Git:
    """The git program, at work in one repository or in none."""

    directory: Path | None = None
    """The git directory; None for commands that need no repository."""
    config: tuple[tuple[str, str], ...] = ()
    """Settings for every call. They travel in the environment, where no other user can read them."""
    local: bool = False
    """Whether `file:` addresses may be fetched from."""

    def run(
        self,
        *args: str,
        stdin: bytes | None = None,
        check: Container[int] = (0,),
        lazy: bool = False,
        timeout: float = 600.0,
    ) -> bytes:
        """Return what git prints; raise GitError for an exit code outside `check`.

        `lazy` lets a partial clone fetch missing objects one by one: for fetches only, never for questions.
        """
        return self._call(args, stdin, check, lazy=lazy, timeout=timeout)[1]

    def answers(self, *args: str, stdin: bytes | None = None, timeout: float = 600.0) -> bool:
        """Return git's yes (exit 0) or no (exit 1); raise GitError above, where git could not tell."""
        return self._call(args, stdin, (0, 1), lazy=False, timeout=timeout)[0] == 0

    def _call(
        self, args: tuple[str, ...], stdin: bytes | None, check: Container[int], *, lazy: bool, timeout: float
    ) -> tuple[int, bytes]:
        """Run git once and return its exit code and output."""
        place = [f"--git-dir={self.directory}"] if self.directory else []
        protocols = "http:https:ssh:git:file" if self.local else "http:https:ssh:git"
        env = _environment({**_CONFIG, **dict(self.config)}) | {"GIT_ALLOW_PROTOCOL": protocols}
        if not lazy:
            env["GIT_NO_LAZY_FETCH"] = "1"
        code, out, err = _execute(["git", *place, *args], env, stdin, timeout)
        if code not in check:
            raise _trouble(args[0] if args else "git", code, err)
        return code, out


def checked_address(url: str, *, local: bool = False) -> str:
    """Return the address if git may be given it; raise GitError with the reason otherwise."""
    if reason := address.refusal(url, files=local):
        raise GitError(f"the address is refused: {reason}")
    return url


def masked(text: str) -> str:
    """Return the text on one line, without user names and passwords in addresses and without control characters."""
    return _SECRET.sub("***@", _CONTROL.sub(" ", text)).strip()


def tracked(folder: Path) -> tuple[tuple[str, ...], Mapping[str, Oid]] | None:
    """Return the names that git tracks below a folder, and the commits of its submodules.

    None when the folder is in no git repository, or in one that tracks nothing there. A repository that belongs to
    another user is read too: only its index is, and nothing in it is run.
    """
    env = _environment({**_CONFIG, "safe.directory": "*"}) | {"GIT_NO_LAZY_FETCH": "1"}
    code, out, err = _execute(["git", "-C", str(folder), "ls-files", "--stage", "-z"], env, None, 60.0)
    if code == 128 and b"not a git repository" in err:  # noqa: PLR2004 - how git says "fatal"
        return None
    if code:
        raise _trouble("ls-files", code, err)
    names: dict[str, None] = {}
    gitlinks: dict[str, Oid] = {}
    for name, facts in _entries(out):
        mode, linked, _stage = facts.split(" ")
        if mode == _GITLINK:
            gitlinks[name] = oid(linked)
        else:
            names[name] = None
    return (tuple(names), gitlinks) if names or gitlinks else None


def origin(folder: Path) -> str | None:
    """Return the address of the remote `origin` of a checkout, without credentials; None where there is none."""
    env = _environment({**_CONFIG, "safe.directory": "*"})
    command = ["git", "-C", str(folder), "config", "--local", "--get", "remote.origin.url"]
    code, out, _ = _execute(command, env, None, 60.0)
    return _SECRET.sub("", out.decode(errors="replace").strip()) or None if code == 0 else None


def relink(folder: Path, links: Mapping[str, tuple[Oid, Oid]]) -> None:
    """Stage submodules of a checkout at other commits, all of them in one step, and nothing else.

    `links` has the path of each below the folder → its commit in the index, and the new one. Raises GitError, with the
    index as it was, where the index says otherwise or is locked. No work tree is touched.
    """
    if not links:
        return
    env = _environment({**_CONFIG, "safe.directory": "*"}) | {"GIT_NO_LAZY_FETCH": "1"}
    here = ["git", "-C", str(folder)]
    staged = {path: f"{_GITLINK} {before} 0" for path, (before, _) in links.items()}
    held = dict(_entries(_asked([*here, "ls-files", "--stage", "-z", "--", *links], env)))
    if changed := next((path for path, facts in staged.items() if held.get(path) != facts), None):
        raise GitError(f"{changed}: the index has another commit for this submodule than was read; look again first")
    prefix = _asked([*here, "rev-parse", "--show-prefix"], env).decode(errors="surrogateescape").removesuffix("\n")
    # Whatever the current folder is, these paths are from the root of the repository.
    infos = [f"{_GITLINK},{after},{prefix}{path}" for path, (_, after) in links.items()]
    _asked([*here, "update-index", *(word for info in infos for word in ("--cacheinfo", info))], env)


def _asked(command: list[str], env: Mapping[str, str]) -> bytes:
    """Return what a command in a checkout prints; raise GitError where it fails."""
    code, out, err = _execute(command, env, None, 60.0)
    if code and (lock := _LOCKED.search(err)):
        where = masked(lock[1].decode(errors="replace"))
        raise GitError(
            f"the index is locked: another git is at work there, or one died and left {where}", retryable=True
        )
    if code:
        raise _trouble(command[3], code, err)
    return out


def _entries(staged: bytes) -> Iterator[tuple[str, str]]:
    """Yield path → `mode oid stage`, from `git ls-files --stage -z`."""
    for entry in staged.split(b"\0")[:-1]:
        facts, _, path = entry.partition(b"\t")
        yield path.decode(errors="backslashreplace"), facts.decode()


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """What a checkout has checked out."""

    commit: Oid
    prefix: str
    """The folder within the repository, with `/` at its end; empty for its root."""
    directory: Path
    """The git directory."""


def head(folder: Path) -> Head | None:
    """Return what a folder has checked out; None where it is in no repository, or in one without a commit."""
    env = _environment({**_CONFIG, "safe.directory": "*"})
    asked = ("rev-parse", "--absolute-git-dir", "--show-prefix", "--verify", "HEAD^{commit}")
    code, out, _ = _execute(["git", "-C", str(folder), *asked], env, None, 60.0)
    if code:
        return None
    directory, prefix, commit = out.decode(errors="surrogateescape").splitlines()
    return Head(commit=oid(commit), prefix=prefix, directory=Path(directory))


def http_backend(env: Mapping[str, str], body: bytes) -> bytes:
    """Return what `git http-backend` answers to one request: CGI headers, an empty line, the body."""
    own = _environment({"safe.directory": "*", "gc.auto": "0"}) | {"GIT_NO_LAZY_FETCH": "1"}
    return _execute(["git", "http-backend"], own | dict(env), body, 60.0)[1]


def _environment(config: Mapping[str, str]) -> dict[str, str]:
    """Return the environment for one call: what it needs of ours, proxies and certificates, nothing else."""
    env = {
        name: value
        for name, value in os.environ.items()
        if name in _PASSED or name in _OURS or name.startswith(_OUR_KINDS) or name.lower().endswith("_proxy")
    }
    env |= _FIXED
    env.setdefault("GIT_SSH_COMMAND", "ssh -o BatchMode=yes -o ConnectTimeout=20")
    if "SSL_CERT_FILE" in env:
        env.setdefault("GIT_SSL_CAINFO", env["SSL_CERT_FILE"])
    env["GIT_CONFIG_COUNT"] = str(len(config))
    for number, (key, value) in enumerate(config.items()):
        env |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
    return env


def _execute(
    command: list[str], env: Mapping[str, str], stdin: bytes | None, timeout: float
) -> tuple[int, bytes, bytes]:
    """Run a program to its end, or end it and its children when the time is up."""
    given = _given(stdin)
    try:
        process = subprocess.Popen(
            command,
            env=env,
            stdin=given if given is not None else subprocess.PIPE if stdin else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            # A group of its own: git starts helpers that hold our pipes open after git itself is gone.
            start_new_session=True,
        )
    except OSError as error:
        raise GitError(f"cannot start git: {error.strerror}") from error
    finally:
        if given is not None:
            os.close(given)
    try:
        out, err = process.communicate(None if given is not None else stdin or None, timeout)
    except subprocess.TimeoutExpired as error:
        raise GitError(f"git {command[-1][:40]} took longer than {timeout:g} s", retryable=True) from error
    finally:
        if process.returncode is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
    return process.returncode, out, err


def _given(stdin: bytes | None) -> int | None:
    """Return a file in memory with much input, where the system has such files; None where a pipe will do.

    Through a pipe it would go half a kilobyte at a time.
    """
    if stdin is None or len(stdin) < _MUCH or not hasattr(os, "memfd_create"):
        return None
    with os.fdopen(os.memfd_create("input"), "w+b", closefd=False) as file:
        file.write(stdin)
        file.flush()
        file.seek(0)
        return file.fileno()


def _trouble(verb: str, code: int, stderr: bytes) -> GitError:
    """Return the error for a failed call, told by the line of stderr that says most."""
    lines = [masked(line) for line in stderr.decode(errors="replace").splitlines()]
    line = next(_telling(lines), "it said nothing")
    everything = "\n".join(lines)
    retryable = bool(_TRANSIENT.search(everything)) and not _FINAL.search(everything)
    return GitError(f"git {verb}: {line[:300]}", retryable=retryable, returncode=code, said=everything)


def _telling(lines: list[str]) -> Iterator[str]:
    """Yield the lines of stderr, the most telling one first."""
    for prefix in ("ERROR: ", "fatal: ", "error: ", "remote: "):
        yield from (line.removeprefix(prefix) for line in lines if line.startswith(prefix))
    yield from (line for line in reversed(lines) if line)
