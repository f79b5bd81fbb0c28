"""Count things in a sentence."""


def counted(number: int, noun: str, plural: str = "") -> str:
    """Return `1 commit`, `2 commits`; `plural` is for nouns that take more than an s."""
    return f"{number} {noun if number == 1 else plural or f'{noun}s'}"
