"""Where the quotes and brackets of a shell word end."""

import re

_IN_QUOTES = re.compile(r"[\\\"]|\$[({]")
_IN_BRACKETS = {marks: re.compile(rf"[\\'\"{re.escape(marks)}]") for marks in ("()", "{}")}


def next_mark(chars: str, mark: str, start: int) -> int:
    """Return where a mark stands; the end of the text where there is none."""
    end = chars.find(mark, start)
    return len(chars) if end < 0 else end


def closing_quote(chars: str, at: int) -> int:
    """Return where double quotes end that opened before `at`."""
    while found := _IN_QUOTES.search(chars, at):
        match found[0]:
            case '"':
                return found.start()
            case "\\":
                at = found.end() + 1
            case "$(":
                at = closing_bracket(chars, found.end() - 1, "(", ")") + 1
            case _:
                at = closing_bracket(chars, found.end() - 1, "{", "}") + 1
    return len(chars)


def closing_bracket(chars: str, at: int, opening: str, closing: str) -> int:
    """Return where the bracket at `at` is closed; the end of the text where it is not."""
    depth, mark = 0, ""
    marks = _IN_BRACKETS[opening + closing]
    while found := marks.search(chars, at):
        at, char = found.end(), found[0]
        if char == "\\":
            at += 1
        elif mark:
            if char == mark:
                mark = ""
        elif char in "'\"":
            mark = char if opening == "(" or char == '"' else ""
        elif char == opening:
            depth += 1
        elif char == closing:
            depth -= 1
            if depth == 0:
                return found.start()
    return len(chars)


def unescaped_slash(chars: str) -> int:
    """Return where the pattern of `${X/pattern/new}` ends."""
    found = re.search(r"(?<!\\)/", chars)
    return found.start() if found else len(chars)
