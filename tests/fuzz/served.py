"""Write a model's commits and refs into the repository that is served."""

from dataclasses import dataclass, field

from tests.fuzz.history import PARTS, History
from tests.hostile.raw import FIRST, Raw
from tests.stories import kit

_SETUP = b'from setuptools import setup\n\nsetup(name="engine", version="1.0")\n'


@dataclass
class Served:
    """The repository, and which id each commit of the model has there."""

    raw: Raw
    history: History
    oids: dict[str, str] = field(default_factory=dict)
    annotated: dict[str, str] = field(default_factory=dict)
    """Tag → the tag object around its commit."""

    @property
    def names(self) -> dict[str, str]:
        """Return id → commit of the model."""
        return {oid: name for name, oid in self.oids.items()}

    def write(self, name: str, message: str) -> None:
        """Write a commit of the model: one file for each commit in its history, and the code."""
        repaired = self.history.repaired[name]
        code = {f"{part}.c".encode(): _code(part, is_repaired=part in repaired) for part in PARTS}
        notes = {f"{it}.c".encode(): f"/* {it} */\n".encode() for it in self.history.ancestors(name)}
        folder = self.raw.files(code | notes)
        tree = self.raw.tree([(b"40000", b"src", folder), (b"100644", b"setup.py", self.raw.blob(_SETUP))])
        date = b"%d +0000" % (FIRST + 3600 * len(self.oids))
        above = (self.oids[it] for it in self.history.parents[name])
        self.oids[name] = self.raw.commit(tree, *above, message=message.encode(), date=date)

    def annotate(self, tag: str, commit: str) -> None:
        """Wrap a commit in a tag object of that name."""
        head = f"object {self.oids[commit]}\ntype commit\ntag {tag.rpartition('/')[2]}\n"
        text = f"{head}tagger A U Thor <author@example.org> {FIRST} +0000\n\n{tag}\n"
        self.annotated[tag] = self.raw.write(b"tag", text.encode())

    def publish(self) -> None:
        """Make the refs those of the model."""
        lines = [f"{self._target(name)} {name}\n" for name in sorted(self.history.refs)]
        (self.raw.path / "packed-refs").write_text("".join(lines))

    def _target(self, ref: str) -> str:
        return self.annotated.get(ref, self.oids[self.history.refs[ref]])


def _code(part: str, *, is_repaired: bool) -> bytes:
    return (kit.repaired(part) if is_repaired else kit.broken(part)).encode()
