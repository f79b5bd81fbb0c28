"""Whether a text may touch an upstream at all: most commands only print, set or build something."""

import re

_LIVE = re.compile(
    r"\bgit\b[^\n]{0,200}\b(?:clone|fetch|checkout|switch|reset|remote|submodule|pull|subtree|archive)\b"
    r"|\bclone\b|\.git\b|--git\b|\b(?:repo|west) init\b|\b(?:npm|yarn|pnpm|go) [^\n]{0,200}[#@]"
    r"|git\+|/archive/|codeload|raw\.github|(?:tar|zip)ball|/snapshot/"
)


def is_live(text: str) -> bool:
    """Answer whether a text may touch an upstream itself; others only print or set something."""
    return _LIVE.search(text) is not None
