"""From a drawing to judgements: what a mirror would have brought is said in the test."""

from collections.abc import Iterable, Mapping
from functools import partial

from tests.judge.picture import Picture, named
from watcher.judge.suggest import Cost, ladder_for, propose, suggestion, wanted
from watcher.judge.survey import Judged, candidates, judged, survey
from watcher.model import Anchor, ChangedPath, Pin, Repair, Rung, Suggestion
from watcher.observation import Materials


class Judging:
    """The judgement of an upstream's pins; `altered`: landing → paths, `repaired`: landing → lines, by name."""

    def __init__(
        self,
        it: Picture,
        *pins: Pin,
        altered: Mapping[str, Iterable[str]],
        repaired: Mapping[str, Iterable[tuple[str, int, str]]],
        texts: Mapping[str, tuple[str, ...]],
        tracked: tuple[str, ...] = (),
        **changes,
    ) -> None:
        self.it = it
        self.seen = it.pinned(*pins, **changes)
        self.survey = survey(self.seen, pins, tracked)
        paths = {named(landing): tuple(map(_altered, names)) for landing, names in altered.items()}
        commits = [commit for mine in pins if (commit := self.seen.commit_of(mine))]
        self.materials = Materials(
            paths=paths,
            trees={commit: frozenset(texts) for commit in commits},
            texts={(commit, path): lines for commit in commits for path, lines in texts.items()},
        )
        self.candidates = [it.name(change.landing) for change in candidates(self.seen, self.survey, self.materials)]
        self.repairs = {named(name): _repair(name, repaired.get(name, ()), texts) for name in self.candidates}
        self.judged: Judged = judged(self.seen, self.survey, self.materials, self.repairs, pins)

    def fix(self, landing: str) -> str:
        """Return the id of the fix that landed with a commit."""
        return next(name for name, fix in self.judged.fixes.items() if fix.change.landing == named(landing))

    def landing(self, fix: str) -> str | None:
        """Return the drawn name of a fix's landing."""
        return self.it.name(self.judged.fixes[fix].change.landing)

    def fixes(self) -> dict[str, str]:
        """Return landing → grade of every fix."""
        return {self.landing(name): fix.grade.value for name, fix in self.judged.fixes.items()}

    def said(self, pin: Pin) -> dict[str, tuple[str, tuple[str, ...]]]:
        """Return landing → answer and places for a pin."""
        verdicts = self.judged.verdicts[pin.id]
        return {self.landing(name): (said.answer.value, said.where) for name, said in verdicts.items()}

    def single(self, pin: Pin) -> dict[str, Rung]:
        """Return fix → the smallest target with it alone."""
        ladder = ladder_for(self.seen.commit_of(pin), self.seen, self.survey)
        found = {name: ladder.minimal([self.judged.same[name]]) for name in wanted(pin, self.judged)}
        return {name: rung for name, rung in found.items() if rung}

    def propose(self, pin: Pin, cost: Cost | None = None) -> Suggestion | None:
        """Return the suggestion for a pin."""
        ladders = partial(ladder_for, seen=self.seen, surveyed=self.survey)
        made = propose(pin, self.seen, self.survey, self.judged, self.repairs, ladders)
        return made and suggestion(made, cost or Cost(paths=(), before={}, after={}))

    def target(self, pin: Pin) -> tuple | None:
        """Return (target, its fixes, new commits, landings passed) of the suggestion for a pin."""
        made = self.propose(pin)
        if made is None:
            return None
        rung = made.target
        return self.it.name(rung.to), "".join(sorted(map(self.landing, rung.fixes))), rung.commits, rung.landings


def _altered(path: str) -> ChangedPath:
    return ChangedPath(
        status="A" if path.startswith("+") else "M", path=path.lstrip("+"), blob_before=None, blob_after=None
    )


def _repair(landing: str, lines: Iterable[tuple[str, int, str]], texts: Mapping[str, tuple[str, ...]]) -> Repair:
    anchors = tuple(
        Anchor(
            path=path,
            line=line,
            text=texts[path][line - 1],
            is_removed=True,
            origins=(named(origin),),
            paths=(path,),
            wordings=(texts[path][line - 1],),
        )
        for path, line, origin in lines
    )
    return Repair(landing=named(landing), bound=None, anchors=anchors, added=4, removed=len(anchors))
