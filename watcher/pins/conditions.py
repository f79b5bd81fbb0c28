"""What a test says: which branch it is, what its arms tell about the platform, and which variable it asks for."""

import re
from dataclasses import dataclass

_FILE_TEST = re.compile(r"(?:^|\s|\()!?\s*-[a-hkprstuwxGLNOS]\s|\$\(|`|\$[?#!]")
_NOTHING = r"(?:\"\"|''|x|\"x\"|'x')"
_NAMED = r"\"?x?\$\{?(?P<NAME>[A-Za-z_]\w*|[1-9])(?::?-)?\}?\"?"
_EMPTY = re.compile(rf"-z\s+{_NAMED.replace('NAME', 'z')}|{_NAMED.replace('NAME', 'e')}\s*==?\s*{_NOTHING}")
_FILLED = re.compile(
    rf"(?:-n\s+)?{_NAMED.replace('NAME', 'n')}|{_NAMED.replace('NAME', 'f')}\s*!=\s*{_NOTHING}"
    r"|-v\s+(?P<v>[A-Za-z_]\w*)"
)
_NEGATIVE = re.compile(r"!=|-ne\s|==?\s*[\"']?(?:0|false|no|off|none|disabled)[\"']?\s*$|-eq\s+0|-z\s", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """A test of `if`, `&&` or `||`."""

    key: str | None
    """Equal keys are the same question with the same answer; None for one that may answer otherwise next time."""
    is_negated: bool
    """The key's question is answered yes in the other arm."""
    variable: str | None
    """The variable, or the number of the argument, that is asked whether it is empty."""
    is_empty: bool
    """The variable is empty in the arm of yes."""
    labels: tuple[str, str]
    """What the arm of yes and the arm of no tell about the platform."""


def condition(raw: str, expanded: str | None) -> Condition:
    """Read a test as written and with the known variables put in; None for a command, which may end either way."""
    inside = _inside(raw)
    is_negated = inside.startswith("!") and not inside.startswith("!=")
    inside = inside.removeprefix("!").strip() if is_negated else inside
    empty, filled = _EMPTY.fullmatch(inside), _FILLED.fullmatch(inside)
    found = empty or filled
    variable = next((name for name in found.groupdict().values() if name), None) if found else None
    is_against = bool(_NEGATIVE.search(inside)) != is_negated
    is_repeatable = expanded is not None and not _FILE_TEST.search(raw)
    key = (
        None
        if expanded is None or not is_repeatable
        else _inside(expanded).removeprefix("!").strip().replace("!=", "=").replace("==", "=")
    )
    return Condition(
        key=key,
        is_negated=("!=" in inside) != is_negated,
        variable=variable,
        is_empty=(empty is not None) != is_negated,
        labels=("", inside) if is_against else (inside, ""),
    )


def _inside(test: str) -> str:
    """Return a test without its brackets: `[ -n "$X" ]` → `-n "$X"`."""
    test = test.strip()
    for opening, closing in (("[[", "]]"), ("[", "]"), ("test ", "")):
        if test.startswith(opening) and test.endswith(closing):
            return test[len(opening) : len(test) - len(closing)].strip()
    return test
