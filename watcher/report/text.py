"""Make text from strangers harmless before a person sees it."""

import re
import unicodedata

_LONGEST = 300


def safe(text: str, longest: int = _LONGEST) -> str:
    """Return the text on one line, without control, bidirectional and zero-width characters, shortened.

    Terminal escapes, and marks that reorder or hide text, would let a commit message draw over our own words.
    """
    cut = text[: longest * 4]
    shown = "".join(" " if char in "\t\r\n" else char for char in cut if char in "\t\r\n" or _is_visible(char))
    squeezed = re.sub(r" {2,}", " ", shown).strip()
    return squeezed if len(squeezed) <= longest else f"{squeezed[: longest - 1]}…"


def _is_visible(char: str) -> bool:
    return unicodedata.category(char) not in {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
