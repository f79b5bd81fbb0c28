"""Which pictures are there, and which go with a digest?"""

from collections.abc import Container, Iterator
from itertools import islice

from watcher import remembered, standing
from watcher.config import Settings
from watcher.drawing import Drawing
from watcher.model import Severity
from watcher.picture.alone import png
from watcher.picture.sheet import words
from watcher.picture.svg import name_of
from watcher.planned import Shown
from watcher.report.digest import Picture
from watcher.report.week import Digest
from watcher.standing import Watched
from watcher.store import Store
from watcher.web import Pages

PICTURES, DEPENDENCIES = "picture/", "dependency/"
"""Where pictures, and the pages of dependencies, are among all pages."""
_MOST = 3
"""How many pictures go with a digest."""
_WIDTH = 544
"""Units of width, as much as a mail has room for."""


def drawings(settings: Settings, store: Store, it: Watched) -> list[tuple[Drawing, Pages]]:
    """Return what is drawn of a dependency's upstreams, and the pages that it leads to."""
    return [
        (remembered.arguments(settings, store, upstream, ())[1], settings.pages(upstream)) for upstream in it.upstreams
    ]


def shown_to_all(settings: Settings, store: Store, pins: Container[str]) -> Shown | None:
    """Return where anybody finds the picture of the dependency that some pins are of; None where nobody does."""
    http = settings.http
    if not http.public or http.address is None:
        return None
    for it in standing.read(store, settings).dependencies:
        if any(name in pins for name in it.places):
            picture, page = (f"{http.address}{folder}{it.slug}" for folder in (PICTURES, DEPENDENCIES))
            return Shown(name=name_of(it), picture=f"{picture}.svg", page=f"{page}.html")
    return None


def of_week(settings: Settings, store: Store, digest: Digest) -> tuple[Picture, ...]:
    """Return the pictures of those dependencies that need a person most, for a digest that tells of any."""
    return () if digest.is_quiet else tuple(islice(_pictures(settings, store), _MOST))


def _pictures(settings: Settings, store: Store) -> Iterator[Picture]:
    for it in standing.read(store, settings).dependencies:
        if it.severity is None or it.severity.rank < Severity.MEDIUM.rank:
            continue
        drawn = [drawing for drawing, _ in drawings(settings, store, it)]
        try:
            image = png(drawn, it, _WIDTH)
        except ValueError:  # a digest without a picture is better than none
            continue
        if image:
            said = "; ".join(filter(None, (words(drawing, it).replace("\n", "; ") for drawing in drawn)))
            yield Picture(name=it.name, words=said, png=image, width=_WIDTH)
