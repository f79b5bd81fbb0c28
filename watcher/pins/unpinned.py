"""How to name a commit where a manifest names no ref: in the form that the place has for it."""

import re
from collections.abc import Sequence

from watcher.model import Oid

_FORMS: Sequence[tuple[str, str, str]] = (
    (r"(?:.*/)?package\.json", r"", "`#{to}` right behind the address"),
    (r".*\.nix", r"github:|gitlab:", "`/{to}` right behind the repository's name"),
    (r".*\.nix", r"", "`?rev={to}` right behind the address"),
    (r".*", r"git\+\w+:", "`@{to}` right behind the address"),
    (r".*", r"\bclone\b", "`git checkout {to}` in the folder of the clone, which must not be a shallow one"),
    (r".*", r"^\s*ADD\s", "`#{to}` right behind the address"),
    (r"(?:.*/)?(?:Cargo|pyproject)\.toml", r"", '`rev = "{to}"` beside `git`'),
    (r"(?:.*/)?Pipfile", r"", '`ref = "{to}"` beside `git`'),
    (r"(?:.*/)?Gemfile|.*\.gemfile", r"", '`ref: "{to}"` behind `git:`'),
    (r"(?:.*/)?CMakeLists\.txt|.*\.cmake", r"", "`GIT_TAG {to}` behind the address"),
    (r".*\.tf", r"", "`?ref={to}` right behind the address"),
)
"""Pattern of the file, pattern of the line with the address, what to write; the first that fits."""


def form_for(file: str, line: str, commit: Oid) -> str:
    """Return what to write, and where, so that a place without a ref names a commit."""
    fitting = (said for path, text, said in _FORMS if re.fullmatch(path, file) and re.search(text, line))
    return next(fitting, "`{to}` beside the address").format(to=commit)
