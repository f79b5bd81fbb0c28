"""Which fix does which variant have, lack, or not need?"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from watcher.model import Answer, Fix, Verdict
from watcher.report import explain
from watcher.report.explain import Argument
from watcher.report.text import safe
from watcher.standing import Watched


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """What a fix is to one variant."""

    sign: str
    word: str
    """Also its class, without the blanks."""
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Matrix:
    """Fixes as rows, variants as columns."""

    variants: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Mark, ...]], ...]
    """Each fix in words, and what it is to each variant; those first that most of them lack."""
    folded: int
    """How many fixes all variants have, or none needs."""


def matrix(watched: Watched, arguments: Mapping[str, Argument]) -> Matrix | None:
    """Return the matrix of a dependency; None where it has but one variant, or nothing was judged.

    Of several pins for one variant the first speaks, as for drift.
    """
    first: dict[str, str] = {}
    for pin in watched.pins:
        first.setdefault(str(pin["variant"]), pin["id"])
    columns = [arguments.get(pin) for pin in first.values()]
    if len(first) < 2 or not any(columns):  # noqa: PLR2004 - nothing to compare
        return None
    fixes = {name: fix for it in columns if it for name, fix in it.fixes.items() if name in it.verdicts}
    rows = [(fix, tuple(_mark(it, name) for it in columns)) for name, fix in sorted(fixes.items())]
    told = [row for row in rows if not _is_level(row[1])]
    ordered = sorted(told, key=lambda row: (-sum(mark.word == _LACKS.word for mark in row[1]), _title(row[0])))
    return Matrix(
        variants=tuple(map(safe, first)),
        rows=tuple((_title(fix), marks) for fix, marks in ordered),
        folded=len(rows) - len(told),
    )


_LACKS = Mark(sign="✗", word="lacks", reason="")


def _mark(argument: Argument | None, name: str) -> Mark:
    if argument is None:
        return Mark(sign="·", word="not judged", reason="its upstream was not observed, or is another one")
    said: Verdict | None = argument.verdicts.get(name)
    if said is None:
        return Mark(sign="–", word="not concerned", reason="it alters nothing that this variant ships, or came before")
    if said.contained_as is not None:
        return Mark(sign="✓", word="contains", reason=safe(said.reason))
    match said.answer:
        case Answer.YES:
            return Mark(sign=_LACKS.sign, word=_LACKS.word, reason=safe(said.reason))
        case Answer.NO:
            return Mark(sign="–", word="not concerned", reason=safe(said.reason))
        case _:
            return Mark(sign="?", word="unsure", reason=safe(said.reason))


def _is_level(marks: Sequence[Mark]) -> bool:
    """Answer whether a fix is one that nobody lacks."""
    return not any(mark.word in {_LACKS.word, "unsure"} for mark in marks)


def _title(fix: Fix) -> str:
    return explain.name(fix)
