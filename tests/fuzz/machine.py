"""Let anything happen to an upstream and to who pins it, and hold every look against the model."""

import os
import tempfile
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path

from hypothesis import note
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from tests.fuzz.expected import Expected, troubles
from tests.fuzz.history import BRANCHES, MAIN, PARTS, TAGS, History
from tests.fuzz.served import Served
from tests.hostile.raw import Raw
from tests.hostile.stage import hermetic_world
from tests.stories.killed import make_steps
from tests.stories.world import clean_up
from watcher.demo.server import Cut, OldProtocol, Page, Status
from watcher.demo.server import Raw as Bytes
from watcher.store import Store

ENGINE = "acme/engine"
VARIANTS = ("cuda", "rocm", "cpu")
FAULTS = {
    "busy": Status(code=503),
    "limited": Status(code=429),
    "private": Status(code=403),
    "missing": Status(code=404),
    "cut": Cut(length=60),
    "broken off": Cut(length=60, honest=False),
    "a page": Page(),
    "nonsense": Bytes(body=b"\0\0\0"),
    "old": OldProtocol(),
}
"""How the server misbehaves; one that is merely old tells the truth, if anything."""
_TITLE = "fix: pages of the {part} are given back twice when a borrowed buffer is closed"
SLACK = {"slack": {"channel": "#images", "token": "env:SLACK_BOT_TOKEN"}}


class Histories(RuleBasedStateMachine):
    """One upstream, one downstream, and a watcher that looks now and then."""

    def __init__(self) -> None:
        super().__init__()
        self.stack = ExitStack()
        folder = Path(self.stack.enter_context(tempfile.TemporaryDirectory()))
        self.world, _ = self.stack.enter_context(hermetic_world(folder))
        self.world.config = dict(SLACK)
        self.world.engine.path.parent.mkdir(parents=True)
        self.history = History()
        self.served = Served(Raw(self.world.engine.path), self.history)
        self.expected = Expected(self.history)
        self.fault: str | None = None
        self.broken_for = 0
        self.often = self.count = 0
        self.is_wrong = False

    def teardown(self) -> None:
        """Look a last time when all is well, and put the stage away."""
        with self.stack:
            if self.history.refs and not self.is_wrong:
                self._heal()
                self._look(1)

    @initialize(often=st.integers(1, 4), is_tagged=st.booleans())
    def begin(self, often: int, is_tagged: bool) -> None:
        """Publish some commits, the last one a fix that one of two variants lacks, and make the first look."""
        pinned = self._commit(self._commit(message="Run the engine"), message="Pages are counted")
        fix = self._fixed(pinned, PARTS[0])
        self.history.move(MAIN, pinned)
        self._publish(MAIN, fix)
        if is_tagged:
            self._publish(TAGS[0], fix)
        for variant, commit in zip(VARIANTS, (pinned, fix), strict=False):
            self._pin(variant, commit)
        self._look(1)
        self.often = often

    # --- upstream ----------------------------------------------------------------------------------------------------

    @rule(branch=st.sampled_from(BRANCHES))
    def goes_on(self, branch: str) -> None:
        """Add a commit that repairs nothing; a branch that is not there begins on main."""
        tip = self._tip(branch)
        self._publish(branch, self._commit(tip, message=f"Count more pages, {len(self.history.parents)}"))

    @rule(branch=st.sampled_from((MAIN, *BRANCHES)), data=st.data())
    def is_repaired(self, branch: str, data: st.DataObject) -> None:
        """Add a fix of something that is broken."""
        tip = self._tip(branch)
        broken = [part for part in PARTS if part not in self.history.repaired[tip]]
        if not broken:
            return
        self._publish(branch, self._fixed(tip, data.draw(st.sampled_from(broken))))

    @rule(branch=st.sampled_from(BRANCHES), data=st.data())
    def takes_back(self, branch: str, data: st.DataObject) -> None:
        """Revert a fix that stands on a branch."""
        tip = self._tip(branch)
        fixes = [it for it in self.history.standing(tip) if self.history.fixes[it] in self.history.repaired[tip]]
        if not fixes:
            return
        fix = data.draw(st.sampled_from(sorted(fixes)))
        part = self.history.fixes[fix]
        message = f'Revert "fix: pages of the {part} are given back twice"\n\nThis reverts commit {self._oid(fix)}.\n'
        revert = self._commit(tip, message=message, repaired=self.history.repaired[tip] - {part})
        self.history.reverts[revert] = fix
        self._publish(branch, revert)

    @rule(branch=st.sampled_from(BRANCHES), data=st.data())
    def is_picked(self, branch: str, data: st.DataObject) -> None:
        """Bring a fix to another branch."""
        tip = self._tip(branch)
        has, repaired = self.history.ancestors(tip), self.history.repaired[tip]
        fixes = [it for it, part in self.history.fixes.items() if it not in has and part not in repaired]
        if not fixes:
            return
        fix = data.draw(st.sampled_from(fixes))
        part = self.history.fixes[fix]
        message = f"{_TITLE.format(part=part)}\n\n(cherry picked from commit {self._oid(fix)})\n"
        pick = self._commit(tip, message=message, repaired=repaired | {part})
        self.history.fixes[pick], self.history.picks[pick] = part, fix
        self._publish(branch, pick)

    @rule(into=st.sampled_from(BRANCHES), branch=st.sampled_from(BRANCHES))
    def is_merged(self, into: str, branch: str) -> None:
        """Merge what one branch has and the other lacks."""
        one, other = self._tip(into), self._tip(branch)
        if other in self.history.ancestors(one):
            return
        message = f"Merge branch '{branch.removeprefix('refs/heads/')}'"
        self._publish(into, self._commit(one, other, message=message, repaired=self.history.merged(one, other)))

    @rule(branch=st.sampled_from(BRANCHES), data=st.data())
    def is_forced(self, branch: str, data: st.DataObject) -> None:
        """Set a branch to an earlier commit of its line, or to where it was once."""
        tip = self._tip(branch)
        held = self.history.past.get(branch, [])
        there = {it: None for it in (*self.history.line(tip), *held) if it not in {tip, *self.history.lost}}
        if there:
            self._publish(branch, data.draw(st.sampled_from(list(there))))

    @rule(branch=st.sampled_from(BRANCHES))
    def is_rewritten(self, branch: str) -> None:
        """Put another commit in place of a branch's newest one, with the same code.

        Not in place of a revert: one that does not say so is known to nobody, and no longer undoes anything here.
        """
        tip = self._tip(branch)
        if (above := self.history.parents[tip]) and tip not in self.history.reverts:
            self._publish(branch, self._commit(*above, message="Amended", repaired=self.history.repaired[tip]))

    @rule(branch=st.sampled_from([it for it in BRANCHES if it != MAIN]))
    def is_deleted(self, branch: str) -> None:
        """Delete a branch; the next commit on it brings it back."""
        self.history.refs.pop(branch, None)
        self._published()

    @rule(tag=st.sampled_from(TAGS), is_annotated=st.booleans(), data=st.data())
    def is_tagged(self, tag: str, is_annotated: bool, data: st.DataObject) -> None:
        """Make or move a tag."""
        commit = data.draw(st.sampled_from(self._there()))
        self.served.annotated.pop(tag, None)
        if is_annotated:
            self.served.annotate(tag, commit)
        self._publish(tag, commit)

    @rule(tag=st.sampled_from(TAGS))
    def is_untagged(self, tag: str) -> None:
        """Delete a tag."""
        self.history.refs.pop(tag, None)
        self.served.annotated.pop(tag, None)
        self._published()

    @rule()
    def cleans_up(self) -> None:
        """Let the server throw away what no ref holds."""
        self.history.clean_up()
        clean_up(self.world.engine)

    @rule(fault=st.sampled_from(sorted(FAULTS)), looks=st.integers(1, 3))
    def breaks(self, fault: str, looks: int) -> None:
        """Look while all is well, and then at a server that misbehaves, which it may go on to do."""
        self._heal()
        self._look(1)
        self.fault, self.broken_for = fault, looks
        self.world.engine.fault(FAULTS[fault])
        self._look(1)

    # --- downstream --------------------------------------------------------------------------------------------------

    @rule(variant=st.sampled_from(VARIANTS), data=st.data())
    def is_pinned(self, variant: str, data: st.DataObject) -> None:
        """Pin a variant, for the first time or anew, to any commit there ever was."""
        self._pin(variant, data.draw(st.sampled_from(list(self.history.parents))))

    @rule(variant=st.sampled_from(VARIANTS), data=st.data())
    def is_pinned_by_name(self, variant: str, data: st.DataObject) -> None:
        """Pin a variant to a branch or a tag."""
        self._pin(variant, data.draw(st.sampled_from(sorted(self.history.refs))))

    @rule(variant=st.sampled_from(VARIANTS))
    def is_dropped(self, variant: str) -> None:
        """Remove a variant, unless it is the last one."""
        if len(self.expected.pins) > 1 and variant in self.expected.pins:
            del self.expected.pins[variant]
            del self.world.images.pins[variant, ENGINE]

    # --- the watcher -------------------------------------------------------------------------------------------------

    @rule(hours=st.sampled_from([1, 5, 30, 24 * 9]))
    def looks(self, hours: float) -> None:
        """Let time pass, and look."""
        self._look(hours)

    @rule(minutes=st.integers(1, 90))
    def looks_twice(self, minutes: int) -> None:
        """Look, and again when nothing happened in between."""
        self._look(1)
        self._look(minutes / 60)

    @rule(step=st.integers(0, 120))
    def dies_and_looks(self, step: int) -> None:
        """Let a pass be killed before one of its steps, then start again."""
        self.world.now += timedelta(hours=1)
        config, now = self.world.prepare(), self.world.now
        child = os.fork()
        if child == 0:
            try:
                make_steps(config, now, self.world.state, step, self.world.folder / "steps")
            finally:
                os._exit(0)
        os.waitpid(child, 0)
        self._look(1)

    # --- parts -------------------------------------------------------------------------------------------------------

    def _tip(self, branch: str) -> str:
        return self.history.refs.get(branch, self.history.refs[MAIN])

    def _oid(self, commit: str) -> str:
        return self.served.oids[commit]

    def _there(self) -> list[str]:
        return [it for it in self.history.parents if it not in self.history.lost]

    def _commit(self, *parents: str, message: str, repaired: frozenset[str] | None = None) -> str:
        """Add a commit; without another word its code is its first parent's."""
        same = self.history.repaired[parents[0]] if parents else frozenset[str]()
        name = self.history.commit(*parents, repaired=same if repaired is None else repaired)
        self.served.write(name, message)
        return name

    def _fixed(self, tip: str, part: str) -> str:
        """Add a commit that repairs a part."""
        message = f"{_TITLE.format(part=part)}\n\nFixes #{len(self.history.parents)}\n"
        fix = self._commit(tip, message=message, repaired=self.history.repaired[tip] | {part})
        self.history.fixes[fix] = part
        return fix

    def _publish(self, ref: str, commit: str) -> None:
        self.history.move(ref, commit)
        self._published()

    def _published(self) -> None:
        """Serve what the model says; somebody looks now and then, as often as was drawn at first."""
        self.served.publish()
        self.count += 1
        if self.often and self.count % self.often == 0:
            self._look(1)

    def _pin(self, variant: str, ref: str) -> None:
        """Pin a variant to a commit or a full ref name of the model."""
        self.expected.pins[variant] = ref
        written = ref.removeprefix("refs/heads/").removeprefix("refs/tags/")
        self.world.pin(ENGINE, **{variant: self.served.oids.get(ref, written)})

    def _heal(self) -> None:
        self.fault = None
        self.world.engine.fault(None)

    def _look(self, hours: float) -> None:
        """Make a pass, and fail where it does not say what the model says."""
        said = self.look(hours)
        for line in said:
            note(line)
        self.is_wrong = bool(said)
        self.broken_for -= 1
        if self.broken_for < 1:
            self._heal()
        assert [] == said

    def look(self, hours: float) -> list[str]:
        """Make a pass, and return where it does not say what the model says."""
        found = self.world.look(hours)
        with Store.open(self.world.state) as store:
            events, outbox = store.events(), store.outbox()
        has = {it for it in self.expected.kept if self._has(it)}
        # From a server that unlearnt the new protocol, what a partial mirror lacks may not be had.
        is_seen = bool(found.observed) if self.fault == "old" else self.fault is None
        return troubles(self.expected, found, events, outbox, has, self.served.names, is_seen=is_seen)

    def _has(self, commit: str) -> bool:
        """Answer whether the mirror has a commit."""
        return self.world.mirror().answers("cat-file", "-e", f"{self._oid(commit)}^{{commit}}")
