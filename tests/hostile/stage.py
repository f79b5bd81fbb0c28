"""The stage of hostile stories: an upstream for each text, which says it wherever an upstream can say anything."""

from contextlib import contextmanager

import pytest
import stamina

from tests.hostile.raw import FIRST, Raw
from tests.hostile.texts import as_file_name, as_person, as_ref
from tests.stories import kit
from tests.stories.world import World
from watcher.demo.server import GitServer

_EACH = 4
"""Texts of one upstream."""
FIX = b"fix: pages are given back twice, "


@contextmanager
def hermetic_world(folder):
    """Offer a world for more than one test, and its environment: as the fixtures of each test do."""
    with pytest.MonkeyPatch.context() as patch, stamina.set_testing(True, attempts=3):
        home = folder / "home"
        home.mkdir(exist_ok=True)
        for name, value in {"HOME": str(home), "XDG_CONFIG_HOME": str(home), "TZ": "UTC"}.items():
            patch.setenv(name, value)
        with GitServer(folder / "served") as server:
            yield World(folder=folder, server=server), patch


class Mouth:
    """One upstream that says some texts: as subject, body, author, path, branch, tag and content."""

    def __init__(self, world, name, texts):
        self.upstream, self.texts = f"{name}/engine", texts
        world.server.path(self.upstream).parent.mkdir(parents=True, exist_ok=True)
        self.raw = Raw(world.server.path(self.upstream))
        self.code = {as_file_name(text): kit.BROKEN.encode() for text in texts}
        self.count = 0
        self.side, self.tags = [], {}

    def commit(self, text, *parents, message, more=b""):
        """Write a commit by a person of that name, with a file of every name."""
        self.count += 1
        raw = self.raw
        source = raw.files({name: code + more for name, code in self.code.items()})
        setup = b"from setuptools import setup\n\nsetup(name='engine', version='1.0')  # " + text[:200]
        tree = raw.tree([(b"40000", b"src", source), (b"100644", b"setup.py", raw.blob(setup))])
        author = as_person(text) + b" <" + as_person(text) + b"@example.org>"
        return raw.commit(tree, *parents, message=message, author=author, date=b"%d +0000" % (FIRST + 60 * self.count))

    def ref(self, text):
        """Return the name of a text's branch and tag; none is the folder of another."""
        return as_ref(text) + b"=%d" % self.texts.index(text)

    def begin(self):
        """Draw A---B, and for each text a branch with a commit beside, and a tag."""
        text = self.texts[0]
        self.first = self.commit(text, message=b"Run the engine, " + text)
        self.last = self.commit(text, self.first, message=text)
        self.base = self.last
        refs = {b"refs/heads/main": self.last}
        for number, said in enumerate(self.texts):
            self.side.append(self.commit(said, self.last, message=said, more=b"/* %d */\n" % number))
            refs[b"refs/heads/" + self.ref(said)] = self.side[-1]
            refs[b"refs/tags/" + self.ref(said)] = self.last
        self.raw.refs(refs)

    def go_on(self):
        """For each text land a fix by a merge of a branch of that name, delete the branch, move the tag."""
        for text in self.texts:
            self.code[as_file_name(text)] = kit.REPAIRED.encode()
            message = FIX + text + b"\n\n" + text + b"\n\nFixes #31\n"
            fix = self.commit(text, self.last, message=message)
            merge = b"Merge branch '" + text + b"'\n\n" + text
            self.last = self.commit(text, self.last, fix, message=merge)
            self.tags[b"refs/tags/" + self.ref(text)] = self.last
            self.last = self.commit(text, self.last, message=FIX + text, more=b"/* C */\n")
        self.raw.refs({b"refs/heads/main": self.last, **self.tags})

    def pin(self, world):
        """Pin it for each variant: what the fixes repair, and what each branch holds."""
        sides = dict(zip(("rocm", "xpu", "npu", "cpu"), self.side, strict=False))
        world.pin(self.upstream, cuda=self.base, **sides)


def mouths(world, texts):
    """Return upstreams, pinned, that say all texts between them; a few each, since an upstream takes its time."""
    every = list(texts.values())
    made = [Mouth(world, f"stranger{at}", every[at : at + _EACH]) for at in range(0, len(every), _EACH)]
    for mouth in made:
        mouth.begin()
        mouth.pin(world)
    return made
