"""GitPython and its like: the git commands that their calls stand for."""

import ast

from watcher.pins.pycall import Call
from watcher.pins.pycommands import execute
from watcher.pins.pyvalues import Obj, PyValue
from watcher.pins.text import unknown
from watcher.pins.values import just


def is_clone(call: Call) -> bool:
    """Answer whether a call clones a repository."""
    return call.last in {"clone_from", "clone_repository"} or call.dotted in {
        "porcelain.clone",
        "dulwich.porcelain.clone",
    }


def clone(call: Call) -> PyValue:
    """Follow a clone; return the repository."""
    keywords = call.keywords
    url = call.arguments[0] if call.arguments else keywords.get("url")
    folder = (
        call.arguments[1]
        if len(call.arguments) > 1
        else keywords.get("to_path", keywords.get("path", keywords.get("target")))
    )
    branch = keywords.get("branch", keywords.get("checkout_branch", keywords.get("b")))
    words: list[PyValue] = [call.word("git"), call.word("clone")]
    if branch is not None:
        words += [call.word("-b"), branch]
    words += [url, folder if folder is not None else just(unknown("folder", call.place))]
    execute(call.program.shell, words, None, call.place, call.frame.scope)
    return Obj("repo", {"path": folder})


def repository(call: Call) -> Obj | None:
    """Return the repository of `repo.git.checkout(…)`; None for any other call."""
    match call.node.func:
        case ast.Attribute(value=ast.Attribute(value=holder, attr="git")):
            repo = call.program.quietly(holder, call.frame)
            return repo if isinstance(repo, Obj) and repo.kind == "repo" else None
    return None


def command(call: Call, repo: Obj) -> None:
    """Follow `repo.git.checkout(…)` as `git checkout …` in the folder of the repository."""
    words: list[PyValue] = [call.word("git"), call.word(call.last.replace("_", "-")), *call.arguments]
    execute(call.program.shell, words, repo.fields.get("path"), call.place, call.frame.scope)
