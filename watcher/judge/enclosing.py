"""Which definitions is a line inside of, judged by how the text is indented?

No grammar: what stands further left, and further up, holds what stands further right. That is true of nearly all code,
in any language, and where it is not only a hint is lost.
"""

import re
from collections.abc import Sequence

_NAMED = re.compile(
    r"^[^()]*?\b(?:class|struct|union|enum|trait|interface|namespace|impl(?:<[^>]*>)?|module|type|def|fn|func|function)\s+"
    r"(?:\([^)]*\)\s*)?(?:[\w.]+(?:::|\.))*([A-Za-z_$~][\w$]*)"
    r"|([A-Za-z_$~][\w$]*)\s*(?:<[^<>()]*>)?\("
    r"|\b([A-Za-z_$][\w$]*)\s*[:=]\s*(?:async\s*)?(?:function\b|\([^()]*\)\s*=>)"
)
_WORDS = {
    "if", "for", "while", "switch", "catch", "return", "sizeof", "defined", "assert", "elif", "else", "with", "match",
    "until", "unless", "foreach", "do", "try", "except", "__attribute__", "alignas", "decltype", "noexcept", "throw",
    "new", "delete", "await", "not", "and", "or", "in", "is", "print", "let", "var", "pub", "const", "type", "import",
    "Some", "None", "Ok", "Err", "Ready", "option", "struct",
}  # fmt: skip
_LABEL = re.compile(r"[#]\s*\w+|(?:public|private|protected|default|case\b.*|\w+)\s*:\s*$|//|/\*|\*|--|@")
_CONTROL = re.compile(
    r"(?:\}\s*)?(?:if|for|while|switch|catch|else|elif|with|match|try|except|return|do|unless|foreach)\b"
)
_CLOSER = re.compile(r"[)}\]]|[{(\[]$|where$|then$|begin$")
"""How a line starts that goes on, or ends, what began above it as far left."""
_OPENERS = ("{", "(", ":", "where", "then", "begin", "=>")
_FARTHEST = 600
"""Lines above that are looked at."""


def enclosing(lines: Sequence[str], number: int) -> tuple[str, ...]:
    """Return the names of what a 1-based line stands in, the innermost first."""
    found: dict[str, None] = {}
    least = _indent_at(lines, number)
    for line in reversed(lines[max(0, number - 1 - _FARTHEST) : max(0, number - 1)]):
        text = line.strip()
        indent = _indent(line)
        if not text or indent >= least or _is_label(text):
            continue
        if _CLOSER.match(text):
            # `{` alone, `) -> bool:`: what it belongs to stands above, as far left. A mere `}` closed something else.
            least = min(least, indent + 1) if text.endswith(_OPENERS) else least
            continue
        least = indent
        if not _CONTROL.match(text):
            found.update(dict.fromkeys(defined(line)))
        if indent == 0:
            break
    return tuple(found)


def defined(line: str) -> tuple[str, ...]:
    """Return the names that a line may define: of classes, functions, methods."""
    names = (next(filter(None, groups), "") for groups in _NAMED.findall(line[:400]))
    return tuple(dict.fromkeys(name for name in names if name and name not in _WORDS))


def _indent_at(lines: Sequence[str], number: int) -> int:
    """Return how far a line is indented; of a blank one, how far the next one with text is."""
    below = (line for line in lines[max(0, number - 1) : number + 10] if line.strip())
    return max(1, _indent(next(below, "")))


def _indent(line: str) -> int:
    expanded = line.expandtabs(8)
    return len(expanded) - len(expanded.lstrip())


def _is_label(text: str) -> bool:
    return _LABEL.match(text) is not None
