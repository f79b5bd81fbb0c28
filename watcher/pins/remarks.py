"""What a comment behind a ref says that the ref is, and what it must say after a bump.

A claim is a comment that starts with one: `# v1.2.3`, `# tag=v4.1.7`, `# pin @v1`, `# frozen: v1.2`, `# main`,
`# ratchet:owner/name@v4`, `<!-- v1 -->`. It gets the target's tag; without one the target's branch; without that the
claim is taken away, and the comment with it where it says nothing else. A comment that is no claim stays, since it may
be about anything.
"""

import re
from typing import NamedTuple

from watcher.refkind import is_commit, is_version_like

_COMMENT = re.compile(r"(?P<gap>(?<![ \t])[ \t]+)(?P<mark>#+|//+|<!--|/\*)[ \t]*")
_LEAD = re.compile(
    r"(?:renovate:[ \t]*)?(?:(?P<sure>(?:pin|frozen|tag|version|ref|branch)[ \t]*(?:[=:][ \t]*@?|@)|@)"
    r"|(?P<tool>ratchet:[^\s@]+@)|(?:pin|version)[ \t]+)?"
)
_WORD = re.compile(r"[^\s,;()<>*\"']+")
_CLOSE = {"<!--": "-->", "/*": "*/"}
_BRANCHES = frozenset({"main", "master", "trunk", "develop", "dev", "head", "HEAD", "next"})


class Remark(NamedTuple):
    """A piece of a line's end to put something else in the place of."""

    start: int
    end: int
    new: str


def remark(rest: str, name: str | None, known: frozenset[str] = frozenset()) -> Remark | str | None:
    """Return what a claim in the rest of a line becomes; the comment itself where it is none but has digits, or None.

    `name` is the target's tag or branch. `known` are the names that the old ref is known to have.
    """
    comment = _COMMENT.search(rest)
    if comment is None:
        return None
    body_at = comment.end()
    lead = _LEAD.match(rest, body_at)
    word = _WORD.match(rest, lead.end() if lead else body_at)
    tail = rest[word.end() :].strip() if word else ""
    is_alone = tail in {"", _CLOSE.get(comment["mark"], "")} or tail.startswith(comment["mark"])
    if word is None or lead is None or not _is_claim(word[0], lead, known, is_alone=is_alone):
        return rest[body_at:].strip() if re.search(r"\d", rest[body_at:]) else None
    if name:
        return Remark(word.start(), word.end(), name)
    if not is_alone:
        return Remark(body_at, rest.index(tail, word.end()), "")
    if tail.startswith(comment["mark"]):
        return Remark(comment.end("gap"), rest.index(tail, word.end()), "")
    return Remark(comment.start(), len(rest.rstrip()), "")


def _is_claim(word: str, lead: re.Match[str], known: frozenset[str], *, is_alone: bool) -> bool:
    """Answer whether a word says what the ref is: more is needed of one that other words follow."""
    if lead["tool"]:
        return True
    if is_alone:
        is_name = word in known or word in _BRANCHES or word.isdecimal() or bool(lead["sure"])
        return is_name or is_version_like(word) or is_commit(word)
    is_marked = word.startswith("v") or word in known or bool(lead[0])
    return (is_version_like(word) and is_marked) or is_commit(word)
