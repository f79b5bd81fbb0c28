"""How everything stands, as the last looks left it: what pages, feeds and the API tell without asking anybody.

Everything is in the public JSON shape of a report (DESIGN.md §6). Another version may have written it: what is missing
is left out, and nothing is said wrongly.
"""

from watcher.standing.reader import Reader, read
from watcher.standing.told import document
from watcher.standing.values import Document, Standing, Watched

__all__ = ["Document", "Reader", "Standing", "Watched", "document", "read"]
