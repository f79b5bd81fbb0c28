"""Read a page as a person does, and tell a story whose state pages can be made of."""

import re
from datetime import UTC
from html.parser import HTMLParser

from tests.report.passes import NOW
from tests.stories import test_two_fixes
from tests.stories.world import World, name_of
from watcher import remembered, standing
from watcher.config import Settings
from watcher.pages.layout import Frame
from watcher.store import Store

_VOID = {"meta", "link", "br", "img", "input", "hr", "path", "circle", "rect"}
FRAME = Frame(root="../", current="", at=NOW, now=NOW, zone=UTC, version="1.0")
SHELF = name_of(test_two_fixes.NAME)


class Shown(HTMLParser):
    """What a page shows: its words, where its links lead; no tag is left open, and none brings a style or a script."""

    def __init__(self, page: str) -> None:
        """Read it."""
        super().__init__()
        self.words: list[str] = []
        self.links: list[str] = []
        self.tags: list[str] = []
        self.open: list[str] = []
        self.is_within = False
        self.feed(page)
        self.close()
        assert [] == self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note a tag, and where it leads; where a word may be broken is seen by nobody."""
        self.is_within = tag == "wbr"
        if self.is_within:
            return
        assert not [name for name, _ in attrs if name == "style" or name.startswith("on")]
        self.tags.append(tag)
        self.links += [value or "" for name, value in attrs if name == "href"]
        if tag not in _VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note a tag that ends at once."""
        self.tags.append(tag)

    def handle_endtag(self, tag: str) -> None:
        """Hold it against what was opened last."""
        assert tag in _VOID or tag == self.open.pop()

    def handle_data(self, data: str) -> None:
        """Note words."""
        if self.is_within:
            data = self.words.pop() + data
        self.is_within = False
        self.words.append(data)

    @property
    def text(self) -> str:
        """Return its words on one line."""
        return one_line(" ".join(self.words))


def one_line(text: str) -> str:
    """Return a text without what only lays it out: runs of spaces, and marks between the parts of a sentence."""
    return re.sub(r"\s+", " ", re.sub(r"[,:](?=\s|$)", " ", text)).strip()


def article_of(page: str) -> str:
    """Return what a page is about, without what stands around it on every page."""
    return page[page.index("<article") : page.rindex("</article>")] + "</article>\n"


def told(world: World):
    """Tell the story of the two fixes; return how things stand, the arguments, the events, and the ledger."""
    oids = world.upstream(test_two_fixes.NAME).draw(test_two_fixes.PICTURE, **test_two_fixes.STORY)
    world.pin(test_two_fixes.NAME, cuda=oids["P"], rocm=oids["M"])
    world.look()
    settings = Settings.model_validate(world.document())
    with Store.open(world.state) as store:
        told = standing.read(store, settings)
        found, _ = remembered.arguments(settings, store, SHELF, told.dependencies[0].written)
        return told, found, store.events(), store.ledger(SHELF)
