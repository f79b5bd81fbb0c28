"""Make text from strangers harmless before a person sees it."""

import re
import shlex
import unicodedata
from collections.abc import Iterable, Mapping

_LONGEST = 300


def safe(text: str, longest: int = _LONGEST) -> str:
    """Return the text on one line, without control, bidirectional and zero-width characters, shortened.

    Terminal escapes, and marks that reorder or hide text, would let a commit message draw over our own words.
    """
    cut = text[: longest * 4]
    shown = cut if cut.isprintable() else "".join(map(_shown, cut))
    squeezed = (re.sub(r" {2,}", " ", shown) if "  " in shown else shown).strip()
    return squeezed if len(squeezed) <= longest else f"{squeezed[: longest - 1]}…"


def linked(said: str, urls: Mapping[str, str]) -> list[tuple[str, str | None]]:
    """Return a text in pieces, with where those lead that are named in `urls`."""
    if not urls:
        return [(said, None)]
    names = "|".join(map(re.escape, sorted(urls, key=len, reverse=True)))
    pieces = re.split(rf"((?:{names})(?!\d))", said)
    return [(piece, urls.get(piece)) for piece in pieces if piece]


def command(words: Iterable[str]) -> str:
    r"""Return a command to copy that means these words in a shell, and shows every character of them.

    What a terminal would obey, or not show, is written as bash and zsh read it: `$'src/\xe2\x80\xae.c'`.
    """
    return " ".join(shlex.quote(word) if word.isprintable() else f"$'{_escaped(word)}'" for word in words)


def _escaped(word: str) -> str:
    """Return a word for between `$'` and `'`."""
    plain = (char if char.isprintable() and char not in "\\'" else _bytes(char) for char in word)
    return "".join(plain)


def _bytes(char: str) -> str:
    return "".join(f"\\x{byte:02x}" for byte in char.encode("utf-8", "surrogateescape"))


def _shown(char: str) -> str:
    """Return what is shown for a character that may be none to print."""
    if char in "\t\r\n":
        return " "
    return "" if unicodedata.category(char) in {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"} else char
