"""Is a change a fix, and why do we say so?

Evidence is collected from the merged branch's name, the title, the messages of the side commits, trailers, the shape
of the change and the tests it adds. Each piece has a weight; a keyword in the title alone never makes more than
`possible`.
"""

import re
from collections.abc import Iterable, Mapping

from watcher.judge.culprits import BLAMED, FIXES, introduced
from watcher.judge.equivalents import reverted_oids
from watcher.judge.shipped import Role, is_shipped, role
from watcher.model import Change, ChangedPath, Commit, Evidence, Fix, Grade, Oid, Repair

_FIX_TYPE = re.compile(r"^(?:\[[^\]]*\]\s*)*(?:bug)?(?:hot)?fix(?:es)?(?:\([^)]*\))?!?:", re.IGNORECASE)
_OTHER_TYPE = re.compile(
    r"^(?:\[[^\]]*\]\s*)*(feat|feature|refactor|perf|docs?|chore|ci|build|test|tests|style|release|bump)(?:\([^)]*\))?!?:",
    re.IGNORECASE,
)
_FIX_WORD = re.compile(
    r"\b(bug ?)?fix(e[sd]|ing|up)?\b|\bhotfix\b|\brepair(s|ed)?\b|\bcorrect(s|ed|ly)?\b", re.IGNORECASE
)
_HARM = re.compile(
    r"\b(crash(es|ed|ing)?|seg(mentation )?faults?|sigsegv|abort(s|ed)?|panic(s|ked)?|dead-?locks?|hang(s|ing)?|hung"
    r"|races?|leak(s|ed|ing|age)?|overflow(s|ed)?|underflow|use[- ]after[- ]free|double[- ](free|release)|twice"
    r"|out[- ]of[- ]bounds|null pointer|corrupt(s|ed|ion)?|wrong(ly)?|incorrect(ly)?|broken|breaks|regress(ion|ed)"
    r"|fail(s|ed|ure|ing)?|stale|invalid|illegal|undefined behaviou?r|nan|infinite loop|bug|bogus|mistake(nly)?"
    r"|missing|typo)\b",
    re.IGNORECASE,
)
_REMEDY = re.compile(
    r"\b(do not|don't|avoid|prevent|never|no longer|stop|unset|restore|guard against|handle)\b", re.IGNORECASE
)
_FEATURE = re.compile(
    r"^(?:\[[^\]]*\]\s*)*(add|added|adds|support|introduce|implement|enable|allow|document|refactor|rename|bump|upgrade"
    r"|update|clean ?up|release|simplify|improve)\b",
    re.IGNORECASE,
)
_FIX_BRANCH = re.compile(r"(^|[/_-])(bug)?(hot)?fix(es|ed)?([/_-]|$)|(^|[/_-])bug([/_-]|$)", re.IGNORECASE)
_CLOSES = re.compile(
    r"\b(?:fix(?:es|ed)?|close[sd]?|resolve[sd]?):?\s+(?:[\w.-]+/[\w.-]+)?(?:#|GH-|https?://\S+/issues/)(\d+)",
    re.IGNORECASE,
)
_ADVISORY = re.compile(r"\b(CVE-\d{4}-\d{4,}|GHSA(?:-[0-9a-z]{4}){3}|OSV-\d{4}-\d+|PYSEC-\d{4}-\d+)\b", re.IGNORECASE)
_REFERENCES = (
    ("trailer", FIXES, 4.0),
    ("linked-issue", _CLOSES, 1.0),
    ("advisory", _ADVISORY, 4.0),
    ("regression", BLAMED, 3.0),
)
_SMALL, _LARGE = 40, 300
"""Lines of shipped code up to which a change looks like a repair, and from which it does not."""
_WIDTH = 90
"""Characters of a message that a receipt quotes."""
_LEAST, _LIKELY, _CERTAIN = 1.0, 2.0, 3.0
"""Scores from which a change may be called a possible, a likely, a certain fix."""


def judge_fix(
    upstream: str,
    change: Change,
    paths: Iterable[ChangedPath],
    commits: Mapping[Oid, Commit],
    repair: Repair | None = None,
    wanted: tuple[str, ...] = (),
) -> Fix | None:
    """Return the change as a fix with grade and evidence, or None: nothing shipped is altered, nothing repaired.

    Without `repair` the shape is taken to be small and in place: nothing that is a fix with it is left out. `wanted`:
    the path globs of the configuration.
    """
    altered = tuple(paths)
    shipped = tuple(path.path for path in altered if is_shipped(path.path, wanted))
    if not shipped:
        return None
    messages = tuple(commits[oid] for oid in dict.fromkeys((change.landing, *change.commits)) if oid in commits)
    evidence = (*_said(change, messages), *_shown(altered, repair))
    grade = _grade(evidence)
    if grade is None:
        return None
    return Fix(
        id=fix_id(upstream, change.landing),
        upstream=upstream,
        change=change,
        grade=grade,
        evidence=tuple(sorted(evidence, key=lambda item: -item.weight)),
        paths=shipped,
        is_security=any(item.signal == "advisory" for item in evidence),
        introduced=introduced(messages, commits),
    )


def fix_id(upstream: str, landing: Oid) -> str:
    """Return the public id of a fix: owner/name@landing."""
    return f"{'/'.join(upstream.split('/')[-2:])}@{landing[:12]}"


def _said(change: Change, messages: tuple[Commit, ...]) -> list[Evidence]:
    """Collect what people wrote: branch, title, bodies, trailers."""
    # A merge's own subject only repeats the branch name.
    subjects = (message.subject for message in messages if not message.subject.startswith("Merge "))
    text = "\n".join((*subjects, *(message.body for message in messages)))
    found = [*_branch_name(change), *_title_words(change.title), *_trailers(text)]
    bodies = text.replace(change.title, "")
    if match := _HARM.search(bodies) or _FIX_WORD.search(bodies):
        found.append(Evidence(signal="body", detail=f"message says {_around(bodies, match)!r}", weight=0.75))
    if change.title.startswith("Revert ") and any(reverted_oids(message) for message in messages):
        found.append(Evidence(signal="revert", detail="takes back an earlier change", weight=2))
    return found


def _branch_name(change: Change) -> list[Evidence]:
    if change.branch and _FIX_BRANCH.search(change.branch):
        return [Evidence(signal="branch-name", detail=f"merged from {change.branch}", weight=1.5)]
    return []


def _title_words(title: str) -> list[Evidence]:
    """Read the title: the author's own type first, else its words."""
    found = []
    if match := _FIX_TYPE.match(title):
        found.append(Evidence(signal="conventional-type", detail=f"title begins with {match[0]}", weight=2.5))
    elif match := _OTHER_TYPE.match(title):
        found.append(Evidence(signal="conventional-type", detail=f"title begins with {match[0]}", weight=-3))
    elif match := _FIX_WORD.search(title):
        found.append(Evidence(signal="subject", detail=f"title says {match[0]!r}", weight=1.25))
    if match := _HARM.search(title) or _REMEDY.search(title):
        found.append(Evidence(signal="subject", detail=f"title says {match[0]!r}", weight=1))
    if match := _FEATURE.match(title):
        found.append(Evidence(signal="subject", detail=f"title begins with {match[0].strip()!r}", weight=-1.5))
    return found


def _trailers(text: str) -> list[Evidence]:
    """Read what refers to something else: a commit, an issue, an advisory."""
    return [
        Evidence(signal=signal, detail=" ".join(match[0].split()), weight=weight)
        for signal, pattern, weight in _REFERENCES
        if (match := pattern.search(text))
    ]


def _around(text: str, match: re.Match[str]) -> str:
    """Return the line in which a word was found, shortened."""
    start, end = text.rfind("\n", 0, match.start()) + 1, text.find("\n", match.end())
    line = text[start : end if end >= 0 else None].strip()
    return line if len(line) <= _WIDTH else f"{line[: _WIDTH - 1]}…"


def _shown(altered: tuple[ChangedPath, ...], repair: Repair | None) -> list[Evidence]:
    """Collect what the change itself shows: tests beside source, small and in place, or large and new."""
    found = []
    tests = [path.path for path in altered if role(path.path) is Role.TEST]
    if tests:
        found.append(Evidence(signal="test", detail=f"alters {tests[0]} with it", weight=0.5))
    new = [path.path for path in altered if path.status == "A" and role(path.path) is Role.SOURCE]
    if new:
        found.append(Evidence(signal="shape", detail=f"adds {new[0]}", weight=-1))
    lines = repair.added + repair.removed if repair else 0
    if lines <= _SMALL and not new:
        found.append(Evidence(signal="shape", detail=f"{lines} lines of shipped code, in place", weight=0.5))
    elif lines > _LARGE:
        found.append(Evidence(signal="shape", detail=f"{lines} lines of shipped code", weight=-1))
    return found


def _grade(evidence: Iterable[Evidence]) -> Grade | None:
    """Return how sure the evidence makes us, or None when it speaks for no fix at all."""
    pieces = tuple(evidence)
    for_it = {item.signal for item in pieces if item.weight > 0 and item.signal not in {"shape", "test"}}
    score = sum(item.weight for item in pieces)
    if not for_it or score < _LEAST:
        return None
    if for_it & {"trailer", "advisory", "regression"} and score >= _CERTAIN:
        return Grade.CERTAIN
    if for_it >= {"conventional-type", "linked-issue"}:
        return Grade.CERTAIN
    if for_it in ({"subject"}, {"body"}) or score < _LIKELY:
        return Grade.POSSIBLE
    return Grade.LIKELY
