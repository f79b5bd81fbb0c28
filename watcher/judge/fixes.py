"""Is a change a fix, and why do we say so?

Evidence is collected from the merged branch's name, the title, the messages of the side commits, trailers, the shape
of the change and the tests beside it. Each piece has a weight in log-odds, most of them learned (`wording.py`); the
score is their sum. Words of the title alone never make more than `possible`.
"""

import re
from collections.abc import Iterable, Mapping

from watcher.judge.culprits import BLAMED, FIXES, completed, introduced
from watcher.judge.equivalents import reverted_oids
from watcher.judge.labels import of_labels
from watcher.judge.shipped import BY_NAME, Scope, is_shipped
from watcher.judge.wording import SIZES, Found, body_words, line_counts, paths_altered, title_words
from watcher.judge.wordweights import BIAS, WEIGHTS
from watcher.model import Change, ChangedPath, Commit, Discussion, Evidence, Fix, Grade, Oid, Repair

_TYPE = re.compile(r"^(?:\[[^\]\n]{0,80}\]\s*)*([a-z]{2,12})(?:\([^)\n]{0,80}\))?!?:", re.IGNORECASE)
_TAG = re.compile(r"^\s*\[([a-z -]{2,12})\]", re.IGNORECASE)
_FIX_TYPES = frozenset({"fix", "bugfix", "hotfix", "fixes", "bug", "bug fix"})
_OTHER_TYPES = frozenset({
    "feat", "feature", "refactor", "perf", "doc", "docs", "chore", "ci", "build", "test", "tests", "style", "release",
    "bump",
})  # fmt: skip
_FIX_BRANCH = re.compile(r"(^|[/_-])(bug)?(hot)?fix(es|ed)?([/_-]|$)|(^|[/_-])bug([/_-]|$)", re.IGNORECASE)
_ADVISORY = re.compile(
    r"\b(CVE-\d{4}-\d{4,}|GHSA(?:-[0-9a-z]{4}){3}|OSV-\d{4}-\d+|PYSEC-\d{4}-\d+)\b"
    r"|^Merge commit from fork$",  # what the forge writes when a private fork for an advisory is merged
    re.IGNORECASE | re.MULTILINE,
)
_REFERENCES = (("trailer", FIXES, 4.0), ("advisory", _ADVISORY, 4.0), ("regression", BLAMED, 3.0))
_TYPE_WEIGHT, _OTHER_TYPE_WEIGHT = 4.0, -5.0
"""What an author calls a change outweighs all other words of it."""
_BRANCH_WEIGHT, _REVERT_WEIGHT = 1.5, 2.0
_WIDTH, _WORDS = 90, 6
"""Characters of a line, and words, that a receipt quotes."""
_LEAST, _LIKELY, _CERTAIN = -0.4 - BIAS, 0.75, 2.0
"""Scores from which a change may be called a possible, a likely, a certain fix.

0 would be even odds if half of all changes to shipped code were repairs; among those that come into question more are.
"""
_AUDIBLE, _AUDIBLE_TITLE = 0.3, 0.75
"""What a signal must weigh to be more than noise; a title has few words, so one that says little is chance."""


def judge_fix(
    upstream: str,
    change: Change,
    paths: Iterable[ChangedPath],
    commits: Mapping[Oid, Commit],
    repair: Repair | None = None,
    scope: Scope = BY_NAME,
    *,
    discussion: Discussion | None = None,
    silent: bool = False,
) -> Fix | None:
    """Return the change as a fix with grade and evidence, or None: nothing shipped is altered, nothing repaired.

    Without `repair` the lines are taken to be as many as speaks best for a fix: nothing that is one with it is left
    out. `scope`: what the configuration says; `discussion`: what a forge does, where it was asked. `silent`: the score
    alone decides; else something must be said for a fix, since a shape alone is no reason to bother anybody.
    """
    altered = tuple(paths)
    shipped = tuple(path.path for path in altered if is_shipped(path.path, scope))
    if not shipped:
        return None
    messages = tuple(commits[oid] for oid in dict.fromkeys((change.landing, *change.commits)) if oid in commits)
    labels = of_labels(discussion) if discussion else []
    evidence = (*_said(change, messages), *labels, *_shown(altered, repair))
    grade = _grade(evidence, silent=silent)
    if grade is None:
        return None
    return Fix(
        id=fix_id(upstream, change.landing),
        upstream=upstream,
        change=change,
        grade=grade,
        evidence=tuple(sorted(evidence, key=lambda item: -item.weight)),
        paths=shipped,
        created=frozenset(path.path for path in altered if path.status == "A" and path.path in shipped),
        is_security=any(item.signal in {"advisory", "security-label"} for item in evidence),
        introduced=introduced(messages, commits),
        completes=completed(messages, commits),
    )


def fix_id(upstream: str, landing: Oid) -> str:
    """Return the public id of a fix: owner/name@landing."""
    return f"{'/'.join(upstream.split('/')[-2:])}@{landing[:12]}"


def _said(change: Change, messages: tuple[Commit, ...]) -> list[Evidence]:
    """Collect what people wrote: branch, title, bodies, trailers."""
    # A merge's own subject only repeats the branch name.
    subjects = [it.subject for it in messages if not it.subject.startswith("Merge ")]
    text = "\n".join((*subjects, *(it.body for it in messages)))
    # What is said twice counts once; a squash's number is no word.
    bodies = re.sub(r"^ *\(#\d+\)$", "", text.replace(change.title, ""), flags=re.MULTILINE)
    found = [*_branch_name(change), *_type(change.title), *_words("subject", "title", title_words(change.title))]
    found += [*_body(bodies), *_references("\n".join((*(it.subject for it in messages), text)))]
    if change.title.startswith("Revert ") and any(reverted_oids(message) for message in messages):
        found.append(Evidence(signal="revert", detail="takes back an earlier change", weight=_REVERT_WEIGHT))
    return found


def _branch_name(change: Change) -> list[Evidence]:
    if change.branch and _FIX_BRANCH.search(change.branch):
        return [Evidence(signal="branch-name", detail=f"merged from {change.branch}", weight=_BRANCH_WEIGHT)]
    return []


def _type(title: str) -> list[Evidence]:
    """Read what the author calls the change: `fix:`, `feat(x):`, `[Bugfix]`."""
    match = _TYPE.match(title) or _TAG.match(title)
    said = match[1].lower().replace("-", " ").strip() if match else ""
    if match and said in _FIX_TYPES | _OTHER_TYPES:
        weight = _TYPE_WEIGHT if said in _FIX_TYPES else _OTHER_TYPE_WEIGHT
        return [Evidence(signal="conventional-type", detail=f"title begins with {match[0].strip()}", weight=weight)]
    return []


def _body(text: str) -> list[Evidence]:
    """Read the rest of the messages: an issue that is closed stands for itself, a line that tells of harm is quoted."""
    found = body_words(text)
    issue, harm = found.pop("body has closes", None), found.pop("body of harm", None)
    evidence = _words("body", "message", found)
    if issue:
        evidence.append(Evidence(signal="linked-issue", detail=_line(issue), weight=_weight("body has closes")))
    if harm:
        detail = f"message says {_line(_around(text, harm))!r}"
        evidence.append(Evidence(signal="harm", detail=detail, weight=_weight("body of harm")))
    return evidence


def _references(text: str) -> list[Evidence]:
    """Read what refers to something that was wrong: a commit, an advisory."""
    return [
        Evidence(signal=signal, detail=_line(match[0]), weight=weight)
        for signal, pattern, weight in _REFERENCES
        if (match := pattern.search(text))
    ]


def _shown(altered: tuple[ChangedPath, ...], repair: Repair | None) -> list[Evidence]:
    """Collect what the change itself shows: how much code it alters, and what beside it."""
    found = paths_altered(altered)
    tests = {name: found.pop(name) for name in tuple(found) if name.endswith(" test")}
    lines = line_counts(repair.added, repair.removed) if repair else _best_lines()
    return [*_words("shape", "it", found | lines), *_words("test", "it", tests)]


def _best_lines() -> Found:
    """Return the sizes that speak best for a fix."""
    best = (max((f"{what} {size}" for size in SIZES), key=_weight) for what in ("adds", "removes"))
    return {name: f"{name} lines at best" for name in best}


def _words(signal: str, whose: str, found: Found) -> list[Evidence]:
    """Return two pieces of evidence: the words that speak for a fix, and those that speak against it."""
    known = sorted((name for name in found if name in WEIGHTS), key=lambda name: -abs(WEIGHTS[name]))
    sides = ([name for name in known if WEIGHTS[name] > 0], [name for name in known if WEIGHTS[name] < 0])
    return [
        Evidence(signal=signal, detail=f"{whose}: {_receipt(names, found)}", weight=round(sum(map(_weight, names)), 2))
        for names in sides
        if names
    ]


def _receipt(names: list[str], found: Found) -> str:
    """Return each word with what it weighs; of many, the rest in one sum."""
    told = [f"{_line(found[name])} {_weight(name):+.2f}" for name in names[:_WORDS]]
    rest = names[_WORDS:]
    return ", ".join((*told, f"{len(rest)} more {sum(map(_weight, rest)):+.2f}") if rest else told)


def _weight(name: str) -> float:
    return WEIGHTS.get(name, 0.0)


def _around(text: str, word: str) -> str:
    """Return the first line that has a word."""
    return next((line for line in text.splitlines() if word in line), word)


def _line(text: str) -> str:
    """Return a text as one short line."""
    line = " ".join(text.split())
    return line if len(line) <= _WIDTH else f"{line[: _WIDTH - 1]}…"


def _grade(evidence: Iterable[Evidence], *, silent: bool) -> Grade | None:
    """Return how sure the evidence makes us, or None when it speaks for no fix at all."""
    sums: dict[str, float] = {}
    for item in evidence:
        sums[item.signal] = sums.get(item.signal, 0.0) + item.weight
    score = sum(sums.values())
    said = {
        signal
        for signal, weight in sums.items()
        if weight >= (_AUDIBLE_TITLE if signal == "subject" else _AUDIBLE) and signal not in {"shape", "test"}
    }
    if score < _LEAST or not (said or silent):
        return None
    if said & {"trailer", "advisory", "regression"} and score >= _CERTAIN:
        return Grade.CERTAIN
    if said >= {"conventional-type", "linked-issue"}:
        return Grade.CERTAIN
    # One weak voice is no more than that; a message that tells of harm is still one voice.
    if said <= {"subject"} or said <= {"body", "harm"} or said <= {"linked-issue"} or score < _LIKELY:
        return Grade.POSSIBLE
    return Grade.LIKELY
