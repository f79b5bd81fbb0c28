"""Count things in a sentence."""


def counted(number: int, noun: str) -> str:
    """Return `1 commit`, `2 commits`."""
    return f"{number} {noun}{'' if number == 1 else 's'}"
