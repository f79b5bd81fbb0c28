"""Which landing has to do with an error? Rank what landed after a pin by what an error text names.

One score, the sum of named parts, times what is known of the landing as a fix of the pin. What is rare among the
landings counts for more than what many of them touch.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from math import log, sqrt
from posixpath import basename

from watcher.judge.complaint import terms
from watcher.judge.enclosing import defined
from watcher.judge.shipped import Role, role
from watcher.model import Answer
from watcher.suspicion import Altered, Complaint, Landing, Named, Part, Ranked, Suspects

_ROLES = {Role.TEST: 0.4, Role.DOCS: 0.2, Role.TOOLING: 0.5}
_FILE, _LINE, _FUNCTION, _SAYS, _CODE = 1.0, 1.0, 1.0, 1.3, 0.7
"""What the parts are worth against each other."""
_FIX = 1.3
"""The factor for a landing that is known as a fix."""
_ANSWERS = {Answer.YES: 1.3, Answer.UNSURE: 1.0, Answer.NO: 0.8}
_NEXT_FRAME, _FARTHEST = 0.85, 0.3
"""What each further frame of a stack is worth, and the least that any is."""
_FEW = 15.0
"""Shipped files of a change up to which it is hardly less to the point for altering much."""
_CLOSE, _FAR = 3, 25
"""Lines between a named line and a changed one."""
_ELSEWHERE, _MENTIONED = 0.6, 0.6
"""What a named function is worth in a file that is not named; and where altered lines only call or define it."""
_MOST_LINES = 200
"""Lines of one altered place that are read."""
_BACKGROUND = 10
"""So many more landings are imagined that have none of it: with three landings nothing would be rare."""
_SATURATED, _LENGTH = 1.2, 0.5
"""BM25's k1 and b."""
_ROOF = 2.0
"""Twice of what a text shares that shares the weightiest words: more of it hardly counts."""
_LEAST = 0.12
"""Least score of what is worth showing."""
_SHOWN_WORDS = 4


def named_paths(said: Complaint, tree: Iterable[str], altered: Iterable[str] = ()) -> dict[str, Named]:
    """Return the paths of the pinned tree that a text means: those that end as a printed path does.

    `altered`: paths that landings alter; one that the tree has not counts where it has a named one's file name.
    """
    by_name: dict[str, list[str]] = {}
    pinned = set(tree)
    for path in pinned:
        by_name.setdefault(basename(path), []).append(path)
    found: dict[str, Named] = {}
    nearness = 1.0
    for printed, lines in said.files.items():
        parts = printed.split("/")
        depth = {path: _shared(parts, path.split("/")) for path in by_name.get(parts[-1], ())}
        deepest = max(depth.values(), default=0)
        best = [path for path, shared in depth.items() if shared == deepest]
        for path in best:
            weight = nearness * _sureness(deepest, len(parts), path.count("/") + 1) / len(best)
            if path not in found or found[path].weight < weight:
                found[path] = Named(path=path, weight=weight, lines=lines)
        if best:
            nearness = max(nearness * _NEXT_FRAME, _FARTHEST)
    names = {basename(path): named for path, named in found.items()}
    for path in set(altered) - pinned:
        if (old := names.get(basename(path))) is not None:
            found[path] = Named(path=path, weight=old.weight / 2, lines=frozenset())
    return found


def rank(said: Complaint, suspects: Suspects) -> tuple[Ranked, ...]:
    """Return the landings, those that have most to do with an error first; equals as they landed."""
    landings, named, pinned = suspects.landings, suspects.named, suspects.pinned
    total = len(landings) + _BACKGROUND
    touched = Counter(path for landing in landings for path in set(landing.paths))
    entered = Counter(name for landing in landings for name in _functions(landing))
    messages = _Corpus([f"{landing.title}\n{landing.title}\n{landing.message}" for landing in landings], said)
    codes = _Corpus([_code(landing) for landing in landings], said)
    found = []
    for at, landing in enumerate(landings):
        unaimed = (
            _file_part(landing, named, touched, total),
            _line_part(landing, named, pinned),
            _function_part(landing, said, named, entered, total),
            messages.part(at, "message", _SAYS),
            codes.part(at, "code", _CODE),
        )
        aim = _aim(landing)
        parts = tuple(replace(part, value=part.value * aim) for part in unaimed if part.value > 0)
        score = sum(part.value for part in parts) * _known(landing)
        found.append(
            Ranked(
                landing=landing,
                score=score,
                parts=parts,
            )
        )
    return tuple(sorted(found, key=lambda it: -it.score))


def relevant(ranked: Iterable[Ranked]) -> tuple[Ranked, ...]:
    """Return those that are worth showing."""
    return tuple(it for it in ranked if it.score >= _LEAST)


# --- parts -----------------------------------------------------------------------------------------------------------


def _file_part(landing: Landing, named: Mapping[str, Named], touched: Mapping[str, int], total: int) -> Part:
    worth = {
        path: named[path].weight * _ROLES.get(role(path), 1.0) * _rarity(touched[path], total)
        for path in landing.paths
        if path in named
    }
    order = sorted(worth, key=lambda path: (-worth[path], path))
    return Part(what="file", value=_FILE * _best(worth.values()), named=tuple(order))


def _line_part(landing: Landing, named: Mapping[str, Named], pinned: Mapping[str, Sequence[str]]) -> Part:
    near: dict[str, float] = {}
    for path, lines in landing.before.items():
        if path not in named or path not in pinned:
            continue
        for line in named[path].lines:
            moved = _moved(line, pinned[path], lines)
            gap = min((_gap(it, moved) for it in landing.altered if it.path == path), default=_FAR) if moved else _FAR
            if gap < _FAR:
                near[f"{path}:{line}"] = named[path].weight * (1.0 if gap <= _CLOSE else 0.6 * (1 - gap / _FAR))
    order = sorted(near, key=lambda place: (-near[place], place))
    return Part(what="line", value=_LINE * _best(near.values()), named=tuple(order))


def _function_part(
    landing: Landing, said: Complaint, named: Mapping[str, Named], entered: Mapping[str, int], total: int
) -> Part:
    near = _nearness(said.functions, entered)
    worth: dict[str, float] = {}
    for it in landing.altered:
        sure = (1.0 if it.path in named else _ELSEWHERE) * _ROLES.get(role(it.path), 1.0)
        for name in {*it.inside, *_mentioned(it)} & near.keys():
            value = near[name] * sure * _rarity(entered[name], total) * (1.0 if name in it.inside else _MENTIONED)
            worth[name] = max(worth.get(name, 0.0), value)
    order = sorted(worth, key=lambda name: (-worth[name], name))
    return Part(what="function", value=_FUNCTION * _best(worth.values()), named=tuple(order))


class _Corpus:
    """Texts of landings, in which words of an error are looked up (BM25)."""

    def __init__(self, texts: Sequence[str], said: Complaint) -> None:
        wanted = self._wanted = said.terms
        self._spelled = said.spelled
        self._counts: list[dict[str, int]] = []
        self._lengths: list[int] = []
        for text in texts:
            counts = Counter(term for term, _ in terms(text))
            self._lengths.append(counts.total())
            self._counts.append({term: counts[term] for term in counts.keys() & wanted.keys()})
        self._mean = max(1.0, sum(self._lengths) / max(1, len(texts)))
        self._held = Counter(term for counts in self._counts for term in counts)
        self._total = len(texts) + _BACKGROUND
        heaviest = sorted((self._idf(term) * sqrt(n) for term, n in wanted.items() if self._held[term]), reverse=True)
        self._most = max(1.0, sum(heaviest[:12]))

    def part(self, at: int, what: str, factor: float) -> Part:
        """Return what one text shares with the error."""
        length = 1 - _LENGTH + _LENGTH * self._lengths[at] / self._mean
        worth = {
            term: self._idf(term) * sqrt(self._wanted[term]) * count * (_SATURATED + 1) / (count + _SATURATED * length)
            for term, count in self._counts[at].items()
        }
        order = sorted(worth, key=lambda term: (-worth[term], term))
        raw = sum(worth.values()) / self._most
        # A message that quotes another error of the same kind shares very much.
        return Part(what=what, value=factor * raw * (1 + _ROOF) / (raw + _ROOF), named=self._words(order))

    def _words(self, order: Iterable[str]) -> tuple[str, ...]:
        """Return the weightiest words as the error spells them, each once."""
        return tuple(dict.fromkeys(self._spelled[term] for term in order))[:_SHOWN_WORDS]

    def _idf(self, term: str) -> float:
        return log(1 + (self._total - self._held[term] + 0.5) / (self._held[term] + 0.5))


# --- small questions -------------------------------------------------------------------------------------------------


def _known(landing: Landing) -> float:
    """Return the factor for what is known of a landing: a fix, and one that the pin needs."""
    factor = _FIX if landing.fix else 1.0
    return factor * (_ANSWERS[landing.verdict.answer] if landing.verdict else 1.0)


def _aim(landing: Landing) -> float:
    """Return less for a change that alters much: one that alters everything alters what is named, too."""
    shipped = sum(role(path) in {Role.SOURCE, Role.BUILD} for path in landing.paths)
    return 1 / sqrt(1 + shipped / _FEW)


def _nearness(functions: Iterable[str], entered: Mapping[str, int]) -> dict[str, float]:
    """Return what each function is worth that some landing enters: less, the further from the error."""
    mine = [name for name in functions if entered.get(name)]
    return {name: max(_NEXT_FRAME**at, _FARTHEST) for at, name in enumerate(mine)}


def _shared(one: Sequence[str], other: Sequence[str]) -> int:
    """Return how many parts two paths share at their ends."""
    count = 0
    for left, right in zip(reversed(one), reversed(other), strict=False):
        if left != right:
            break
        count += 1
    return count


def _sureness(shared: int, printed: int, held: int) -> float:
    """Return how surely a printed path is one of the tree: one contains the other, or they share some of their end."""
    if shared == min(printed, held):
        return 1.0
    return 0.7 if shared > 1 else 0.3


def _rarity(count: int, total: int) -> float:
    """Return 1 for what one landing has, less for what many have."""
    return log(1 + total / max(1, count)) / log(1 + total)


def _best(values: Iterable[float]) -> float:
    """Return the best value, and a little for each further one."""
    order = sorted(values, reverse=True)
    return sum(value * 0.3**at for at, value in enumerate(order))


def _functions(landing: Landing) -> set[str]:
    return {name for it in landing.altered for name in (*it.inside, *_mentioned(it))}


def _mentioned(it: Altered) -> Iterable[str]:
    """Return the names that altered lines define or call."""
    return (name for line in it.text[:_MOST_LINES] for name in defined(line))


def _code(landing: Landing) -> str:
    changed = (line for it in landing.altered for line in it.text[:_MOST_LINES])
    return "\n".join((*(name for it in landing.altered for name in it.inside), *changed))


def _gap(it: Altered, line: int) -> int:
    return max(it.first - line, line - it.last, 0)


def _moved(line: int, pinned: Sequence[str], before: Sequence[str]) -> int | None:
    """Return which line of the file before a change is a line of the pinned one: the nearest of the same text."""
    if not 0 < line <= len(pinned):
        return None
    text = pinned[line - 1]
    same = [number for number, other in enumerate(before, 1) if other == text]
    at = bisect_left(same, line)
    return min(same[max(0, at - 1) : at + 1], key=lambda number: abs(number - line), default=None)
