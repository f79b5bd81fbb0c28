"""Compile the regular expressions of the configuration, with an engine that needs time in proportion to the text.

People may write what they like, and no file can make a scan hang. Look-around and references back do not exist there.
"""

import re2


class PatternError(ValueError):
    """The expression of a pattern cannot be used; the message says why."""


def compiled(regex: str) -> "re2._Regexp[str]":
    """Return the expression ready to match; `^` and `$` are ends of lines. Raises PatternError."""
    options = re2.Options()
    options.log_errors = False
    options.max_mem = 32 << 20
    try:
        return re2.compile(f"(?m:{regex})", options)
    except re2.error as error:
        reason = error.args[0].decode() if error.args and isinstance(error.args[0], bytes) else str(error)
        raise PatternError(f"the expression cannot be used: {reason}") from None


def check(regex: str, *, has_upstream: bool) -> None:
    """Raise PatternError where an expression cannot tell a ref, or (without a fixed upstream) whose it is."""
    groups = compiled(regex).groupindex
    if "ref" not in groups:
        raise PatternError("expected a group named ref: (?P<ref>…)")
    if "upstream" not in groups and not has_upstream:
        raise PatternError("expected a group named upstream, or `upstream:` beside the expression")
