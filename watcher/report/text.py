"""Make text from strangers harmless before a person sees it."""

import re
import unicodedata
from collections.abc import Mapping

_LONGEST = 300


def safe(text: str, longest: int = _LONGEST) -> str:
    """Return the text on one line, without control, bidirectional and zero-width characters, shortened.

    Terminal escapes, and marks that reorder or hide text, would let a commit message draw over our own words.
    """
    cut = text[: longest * 4]
    shown = "".join(" " if char in "\t\r\n" else char for char in cut if char in "\t\r\n" or _is_visible(char))
    squeezed = re.sub(r" {2,}", " ", shown).strip()
    return squeezed if len(squeezed) <= longest else f"{squeezed[: longest - 1]}…"


def linked(said: str, urls: Mapping[str, str]) -> list[tuple[str, str | None]]:
    """Return a text in pieces, with where those lead that are named in `urls`."""
    if not urls:
        return [(said, None)]
    names = "|".join(map(re.escape, sorted(urls, key=len, reverse=True)))
    pieces = re.split(rf"((?:{names})(?!\d))", said)
    return [(piece, urls.get(piece)) for piece in pieces if piece]


def _is_visible(char: str) -> bool:
    return unicodedata.category(char) not in {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
