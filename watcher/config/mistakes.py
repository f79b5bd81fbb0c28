"""Say what is wrong with a configuration: expected, found, where, and what was probably meant."""

import difflib
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails, PydanticCustomError

from watcher.config.document import Document, Loc, quoted

_EXPECTED = {
    "string_type": "text",
    "list_type": "a list",
    "tuple_type": "a list",
    "dict_type": "a mapping",
    "mapping_type": "a mapping",
    "model_type": "a mapping",
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_parsing_size": "a smaller whole number",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """What the validators are told beside the data."""

    folder: Path
    """The folder of the configuration: relative paths begin here."""
    models: dict[int, type[BaseModel]] = field(default_factory=dict)
    """Which model each mapping of the data (by `id`) was read as: it knows the valid keys."""


def wrong(expected: str, *, found: str | None = None, hint: str = "", at: Loc = ()) -> PydanticCustomError:
    """Return the error that a validator raises; `at` leads from the validated value to the piece that is wrong.

    Without `found`, the piece itself is described.
    """
    return PydanticCustomError(
        "wrong", "expected {expected}", {"expected": expected, "found": found, "hint": hint, "at": at}
    )


def nearest(word: str, words: Iterable[str]) -> str:
    """Return `did you mean …?` for the word most like this one, or nothing."""
    match = difflib.get_close_matches(word.lower(), list(words), n=1, cutoff=0.6)
    return f"did you mean {match[0]}?" if match else ""


def explain(error: ValidationError, document: Document, context: Context) -> list[tuple[int, str]]:
    """Return each mistake as (line, message), in the words of the file."""
    details = error.errors(include_url=False, include_input=False)
    return [_explain(detail, document, context) for detail in details if not _is_echo(detail, document)]


def _is_echo(detail: ErrorDetails, document: Document) -> bool:
    """Answer whether a list is called too short only because its wrong items do not count."""
    piece = _piece(document.data, detail["loc"])
    return detail["type"] == "too_short" and isinstance(piece, list) and len(piece) >= detail["ctx"]["min_length"]


def _explain(detail: ErrorDetails, document: Document, context: Context) -> tuple[int, str]:
    given: dict[str, Any] = detail.get("ctx", {})
    loc: Loc = (*detail["loc"], *given.get("at", ()))
    match detail["type"]:
        case "wrong":
            return _sentence(document, loc, given["expected"], found=given["found"], hint=given["hint"])
        case "extra_forbidden":
            return _unknown_key(document, loc, _keys(document, loc, context))
        case "missing":
            return _missing_key(document, loc)
        case "enum":
            words = re.findall(r"'([^']*)'", given["expected"])
            expected = f"one of {', '.join(words)}"
            return _sentence(document, loc, expected, hint=nearest(_written(document, loc), words))
        case "greater_than_equal":
            return _sentence(document, loc, f"{given['ge']} or more")
        case "too_short":
            return _sentence(document, loc, f"at least {given['min_length']}", found=f"{given['actual_length']}")
        case kind:
            return _sentence(document, loc, _EXPECTED.get(kind, detail["msg"]))


def _sentence(
    document: Document, loc: Loc, expected: str, *, found: str | None = None, hint: str = ""
) -> tuple[int, str]:
    found = found or document.found(loc)
    if found == "nothing" and not hint and document.has_comment(loc):
        hint = "text that begins with # must stand in quotes"
    return document.line(loc), f"expected {expected}{_where(loc)}, found {found}{hint and '; ' + hint}"


def _unknown_key(document: Document, loc: Loc, keys: list[str]) -> tuple[int, str]:
    hint = nearest(str(loc[-1]), keys)
    message = f"expected one of the keys {', '.join(keys)}{_where(loc[:-1])}, found {quoted(str(loc[-1]))}"
    return document.line(loc), f"{message}{hint and '; ' + hint}"


def _missing_key(document: Document, loc: Loc) -> tuple[int, str]:
    parent = _piece(document.data, loc[:-1])
    present = ", ".join(quoted(key) for key in parent) if isinstance(parent, dict) else ""
    return document.line(loc), f"expected the key {loc[-1]}{_where(loc[:-1])}, found only {present or 'nothing'}"


def _where(loc: Loc) -> str:
    """Name the piece in dotted form: ` for downstreams[0].branch`."""
    preposition, steps = ("as a key of", loc[:-2]) if loc[-1:] == ("[key]",) else ("for", loc)
    name = "".join(f"[{step}]" if isinstance(step, int) else f".{_shown(step)}" for step in steps)
    return f" {preposition} {name[1:]}" if steps else ""


def _shown(key: str) -> str:
    return key if key == quoted(key).strip("'") else quoted(key)


def _keys(document: Document, loc: Loc, context: Context) -> list[str]:
    model = context.models.get(id(_piece(document.data, loc[:-1])))
    return [] if model is None else [info.alias or name for name, info in model.model_fields.items()]


def _written(document: Document, loc: Loc) -> str:
    piece = loc[-2] if loc[-1:] == ("[key]",) else _piece(document.data, loc)
    return piece if isinstance(piece, str) else ""


def _piece(data: Any, loc: Loc) -> Any:
    for part in loc:
        match data:
            case dict() if part in data:
                data = data[part]
            case list() if isinstance(part, int) and part < len(data):
                data = data[part]
            case str():
                # A text where a mapping may stand too (`drift: same-fixes`): it is the piece itself.
                return data
            case _:
                return None
    return data
