"""Match a path of a repository against a glob as people write it in config.yaml."""

import re

_PARTS = re.compile(r"\*\*/|/\*\*$|\*\*|\*|\?|\[!?\]?[^]/]*\]|.", re.DOTALL)


def is_match(glob: str, path: str) -> bool:
    """Answer whether the whole path fits; `*` and `?` stay within one component, `**` crosses them.

    `src/**` fits everything below `src`, `**/Dockerfile` also fits a `Dockerfile` at the top.
    """
    return re.fullmatch("".join(map(_expression, _PARTS.findall(glob))), path, re.DOTALL) is not None


def _expression(part: str) -> str:
    match part:
        case "**/":
            return "(?:.*/)?"
        case "/**":
            return "/.+"
        case "**":
            return ".*"
        case "*":
            return "[^/]*"
        case "?":
            return "[^/]"
        case _ if len(part) > 1:
            return _one_of(part.removeprefix("[").removesuffix("]"))
        case _:
            return re.escape(part)


def _one_of(characters: str) -> str:
    """Return the expression for what stands between the brackets of `[a-z]` or `[!a-z]`."""
    escaped = re.sub(r"([\\\[\]^&~|])", r"\\\1", characters.removeprefix("!"))
    return f"[^/{escaped}]" if characters.startswith("!") else f"[{escaped}]"
