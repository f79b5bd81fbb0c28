"""The argument about a pin as HTML says everything that `explain` prints, and nothing of a stranger's as it came."""

from dataclasses import replace

import pytest

from tests.hostile.texts import TEXTS
from tests.pages.shown import FRAME, Shown, one_line, told
from tests.report import passes
from tests.report.test_shown import argument
from tests.stories.conftest import world  # noqa: F401 - the world that stories start from
from watcher.model import Reachability, ReachabilityClass
from watcher.pages.finding import finding
from watcher.report.explain import render


def shown(it) -> str:
    """Return a finding's page with an argument."""
    return finding(passes.fix_available(passes.CUDA), it, (), None, FRAME)


def said(it) -> list[str]:
    """Return every sentence that `explain` prints, without its prompt."""
    return [line.strip().removeprefix("$ ") for line in render(it).splitlines() if line.strip()]


def missing(it) -> list[str]:
    """Return the sentences of `explain` that the page does not say."""
    page = Shown(shown(it))
    return [line for line in said(it) if line not in page.links and one_line(line) not in page.text]


@pytest.mark.parametrize(
    "it",
    [
        argument(),
        argument(
            commit=None,
            reachability=Reachability(cls=ReachabilityClass.UNKNOWN, detail="the short id may mean several"),
            verdicts={},
            suggestion=None,
        ),
        argument(verdicts={passes.FIX.id: passes.verdict(where=("a.c:1", "a.c:2", "b.c:3"))}, single={}),
    ],
    ids=["whole", "unknown", "no commit has both"],
)
def test_every_sentence_is_on_the_page(it):
    """Words, links and commands: nothing that `explain` says is left out."""
    assert [] == missing(it)


def test_every_sentence_of_a_story(world):  # noqa: F811
    """So it is with what was really judged, for each variant."""
    _, found, _, _ = told(world)
    assert 2 == len(found)
    assert [] == [line for it in found.values() for line in missing(it)]


@pytest.mark.parametrize("name", sorted(TEXTS))
def test_hostile_words_open_no_tag(name):
    """A title, a reason or a path from a stranger brings no tag, no link, and no mark that hides text."""
    evil = TEXTS[name].decode("utf-8", "surrogateescape")
    fix = replace(passes.FIX, change=replace(passes.FIX.change, title=evil))
    it = argument(
        fixes={fix.id: fix},
        verdicts={fix.id: passes.verdict(reason=evil, where=(f"{evil}:1",))},
        reachability=Reachability(cls=ReachabilityClass.BRANCH, refs=(), detail=evil),
    )
    calm, attacked = Shown(shown(argument(verdicts={fix.id: passes.verdict(where=("a.c:1",))}))), shown(it)
    page = Shown(attacked)
    assert calm.tags == page.tags
    assert not [link for link in page.links if link.startswith(("https://evil", "http://evil"))]
    assert not {"\x1b", "\x07", "\u202e", "\u200b", "\x00", "\x9b"} & set(attacked)
