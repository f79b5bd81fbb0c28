"""What may be written where the ref of a pin stands: any ref, or only the name of a tag or a branch."""

import re

from watcher.pins.groups import around, brackets
from watcher.pins.spots import Lines, Spot

_PREFIX = re.compile(r"(?:refs/)?(?:tags|heads|remotes/origin)/$|(?<![\w/])origin/$")
_DOWNLOAD = re.compile(r"/releases/download/$")
_KEY = re.compile(
    r"(?<![\w.$-])(?P<key>tag|branch|gitBranch|git_branch|exact|from|semver)[\"']?\s*(?:=>|[=:])\s*[\"']?(?:refs/\w+/)?$"
)
_FETCHED = re.compile(r"\bfetch\b[^\n;&|]*\stag\s+[\"']?$")
_COMPOSER = re.compile(r"\"dev-$")
_CLONED = re.compile(r"\bclone\b(?:[^\n;&|]|\\\n){0,400}?(?:\s-b[ =]*|\s--branch[= ]+)[\"']?$")
_ASSIGNED = re.compile(r"(?P<name>[A-Za-z_]\w*)[\"']?\s*(?:[:?]?=|:|\s)\s*[\"']?$")
_SHALLOW = re.compile(r"\bGIT_SHALLOW\s+\"?(?:TRUE|ON|YES|1)\b", re.IGNORECASE)
_BEFORE = 500


def prefix_of(lines: Lines, spot: Spot) -> Spot:
    """Return where the ref stands with what only says where it lives: a commit takes the place of `refs/tags/v1`."""
    found = _PREFIX.search(lines.text, max(0, spot.start - 30), spot.start)
    return Spot(found.start(), spot.end) if found else spot


def why_no_commit(lines: Lines, spot: Spot, elsewhere: tuple[str, ...] = ()) -> str | None:
    """Return why the id of a commit cannot stand in the place of a tag or a branch; None where any ref may.

    `elsewhere` are texts of other files that may use what is assigned here.
    """
    before = lines.text[max(0, spot.start - _BEFORE) : spot.start]
    line_start = before[before.rfind("\n") + 1 :]
    if key := _KEY.search(line_start):
        return f"`{key['key']}` takes only the name of one; write the commit under the format's key for commits"
    if _COMPOSER.search(line_start):
        return "`dev-` takes only a branch; write `dev-main#<commit>`"
    if _FETCHED.search(line_start):
        return "`git fetch … tag` takes only the name of one"
    if _DOWNLOAD.search(line_start):
        return "what a release offers for download has no commit"
    if _CLONED.search(before):
        return _CLONE
    assigned = _ASSIGNED.search(line_start)
    if assigned and any(_is_cloned(assigned["name"], text) for text in (lines.text, *elsewhere)):
        return f"{assigned['name']} is what {_CLONE}"
    near = around(brackets(lines.text), spot.start)[:1] if "GIT_SHALLOW" in lines.text else []
    if any(_SHALLOW.search(lines.text, group.start, group.end) for group in near):
        return "GIT_SHALLOW takes only names: remove it first"
    return None


_CLONE = "`git clone --branch` takes, and it takes only names: clone without it and check the commit out"


def _is_cloned(name: str, text: str) -> bool:
    if name not in text:
        return False
    used = rf"(?:\$\{{?{name}\b|\$\({name}\)|%{name}%|\{{\{{\s*(?:[\w.]+\.)?{name}\b)"
    pattern = rf"\bclone\b(?:[^\n;&|]|\\\r?\n){{0,400}}?(?:\s-b[ =]*|\s--branch[= ]+)[\"']?{used}"
    return re.search(pattern, text) is not None
