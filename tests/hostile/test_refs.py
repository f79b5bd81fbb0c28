"""What a lying server says of its refs, and graphs that run in a ring: a value or an error, in bounded time."""

from contextlib import suppress

import pytest

from tests.hostile.conftest import HEAVY
from tests.hostile.measured import MIB, within
from tests.hostile.raw import Raw
from tests.stories import kit
from tests.stories.world import offered, reasons
from watcher.commitgraph import CommitGraphError
from watcher.errors import GitError
from watcher.graph import Graph
from watcher.upstream.git import Git
from watcher.upstream.history import open_graph
from watcher.upstream.mirror import Mirror
from watcher.upstream.protocol import Malformed, Seen, advertisement, read_ls_refs, read_ls_remote, read_old

OID = b"a1" * 20


def packet(line):
    """Return a packet of any bytes."""
    return b"%04x%b" % (len(line) + 4, line)


def answer(*names):
    """Return an answer to ls-refs with refs of these names."""
    return b"".join(packet(OID + b" " + name + b"\n") for name in names) + b"0000"


LIES = {
    "dots": b"refs/heads/../../config",
    "dot": b"refs/heads/.hidden",
    "nul": b"refs/heads/a\0b",
    "escape": b"refs/heads/\x1b]0;x\x07",
    "delete": b"refs/heads/\x7f",
    "carriage return": b"refs/heads/a\rb",
    "line feed": b"refs/heads/a\n" + OID + b" refs/heads/b",
    "at": b"refs/heads/@{u}",
    "lock": b"refs/heads/a.lock",
    "wild card": b"refs/heads/*",
    "caret": b"refs/heads/a^{}",
    "absolute": b"/etc/passwd",
    "option": b"--upload-pack=x",
    "no ref": b"heads/main",
    "nothing": b"",
    "slashes": b"refs/heads//a",
    "end": b"refs/heads/a/",
}


@pytest.mark.parametrize("name", LIES)
def test_names_that_git_does_not_allow(name):
    """The whole answer is refused: who says that is no git server. The reason is one harmless line."""
    asked = [(lambda it: read_ls_refs(it, Seen(refs={})), answer(b"refs/heads/main", LIES[name]))]
    if name != "nul":  # it ends the name in the older protocol
        asked.append((read_old, packet(b"# service=git-upload-pack\n") + b"0000" + answer(b"refs/tags/t", LIES[name])))
    for read, said in asked:
        with pytest.raises(Malformed) as error:
            read(said)
        assert str(error.value).isascii()
        assert str(error.value).isprintable()
        assert len(str(error.value)) < 400


def test_a_name_of_64_kilobytes():
    """As long as a packet can be: it is a name, and git is the one to say that no file has such a one."""
    name = b"refs/heads/" + b"x" * (65_516 - len(OID) - 13)
    assert [name.decode()] == list(read_ls_refs(answer(name), Seen(refs={})).refs)


def test_a_name_of_64_kilobytes_is_one_upstream_that_cannot_be_observed(world):
    """Git makes no such file: said in one line, and every other upstream is judged."""
    oids = world.engine.draw("A---B---F   (main)", **kit.STORY)
    path = world.upstream("acme/long").path
    path.parent.mkdir(parents=True, exist_ok=True)
    raw = Raw(path)
    commit = raw.commit(raw.files({b"a": b"a"}))
    raw.refs({b"refs/heads/main": commit, b"refs/heads/" + b"x" * 60_000: commit})
    world.pin(cuda=oids["B"])
    world.pin("acme/long", cuda=commit)
    found = within(world.look)
    assert oids["F"] == offered(found)
    assert all(len(reason) < 400 and reason.isprintable() for reason in reasons(found))


@pytest.mark.parametrize("reader", [read_old, read_ls_remote, lambda it: read_ls_refs(it, Seen(refs={}))])
@pytest.mark.parametrize("size", [0, 1, 3, 4, 65_520])
def test_noise(reader, size):
    """Bytes of any kind end in a value or in Malformed."""
    for seed in range(20):
        noise = bytes((seed * 31 + at * at * 7) % 256 for at in range(size))
        for said in (noise, b"0000" + noise, packet(noise[:60_000]) + noise):
            with suppress(Malformed):
                reader(said)


def test_a_million_refs():
    """As many as an answer of 64 MiB can hold are read, or more than that is never taken in (Manner.largest)."""
    count = 1_000_000 if HEAVY else 200_000
    said = answer(*(b"refs/heads/a%08d" % number for number in range(count)))
    assert len(said) < 64 * MIB
    found = within(
        lambda: len(advertisement(read_ls_refs(said, Seen(refs={})), ("refs/heads/",), None).refs),
        seconds=40 if HEAVY else 10,
        megabytes=900 if HEAVY else 300,
    )
    assert count == found


def test_line_ends_that_git_does_not_know(world):
    """U+0085, U+2028 and U+2029 are letters to git, and to us: a branch that has one blinds nobody."""
    names = ["refs/heads/a\u2028b", "refs/tags/c\x85d", "refs/heads/e\u2029f"]
    world.pin(cuda=world.engine.draw("A---B   (main)", refs=dict.fromkeys(names, "B"), **kit.STORY)["B"])
    assert [] == reasons(world.look())
    oids = world.engine.draw("A---B---F   (main)", refs=dict.fromkeys(names, "A"), **kit.STORY)
    found = world.look()
    assert [] == reasons(found)
    assert oids["F"] == offered(found)


# --- rings -----------------------------------------------------------------------------------------------------------

RINGS = {
    "itself": {"a" * 40: ("a" * 40,)},
    "two": {"a" * 40: ("b" * 40,), "b" * 40: ("a" * 40,)},
    "two, and a root": {"a" * 40: ("b" * 40, "c" * 40), "b" * 40: ("a" * 40,), "c" * 40: ()},
    "second parent": {"a" * 40: ("c" * 40, "b" * 40), "b" * 40: ("c" * 40, "a" * 40), "c" * 40: ()},
    "octopus": {"a" * 40: ("c" * 40, "d" * 40, "a" * 40), "c" * 40: (), "d" * 40: ()},
}
QUESTIONS = {
    "generations": lambda graph, it: [graph.generations[commit] for commit in it],
    "ancestors": lambda graph, it: len(graph.ancestors(it[0])),
    "descendants": lambda graph, it: len(graph.descendants(it[0])),
    "line": lambda graph, it: len(graph.first_parent_line(it[0])),
    "line backwards": lambda graph, it: list(reversed(graph.first_parent_line(it[0]))),
    "is_ancestor": lambda graph, it: graph.is_ancestor(it[-1], it[0]),
    "between": lambda graph, it: len(graph.between(it[-1], it[0])),
    "merge_bases": lambda graph, it: len(graph.merge_bases(it[0], it[-1])),
    "common_ancestor": lambda graph, it: graph.common_ancestor(it),
    "holders": lambda graph, it: graph.holders(it, it),
    "reached": lambda graph, it: len(graph.reached(it)),
    "increments": lambda graph, it: [len(some) for some in graph.increments(it)],
}


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("ring", RINGS)
def test_a_history_that_runs_in_a_ring(ring, question):
    """No hash allows it; who claims it gets an error or a value, and never an endless walk."""

    def asked():
        try:
            QUESTIONS[question](Graph(RINGS[ring]), list(RINGS[ring]))
        except (GitError, ValueError, KeyError, CommitGraphError) as error:
            return type(error).__name__
        return "a value"

    assert within(asked, seconds=2, megabytes=100)


def test_a_mirror_that_claims_a_ring(tmp_path):
    """A graft in the mirror makes a commit its own descendant: git's output is refused, and nothing hangs."""
    raw = Raw(tmp_path / "mirror.git")
    tree = raw.files({b"a": b"a"})
    first = raw.commit(tree)
    second = raw.commit(tree, first, message=b"second")
    raw.refs({b"refs/heads/main": second})
    (raw.path / "info").mkdir(exist_ok=True)
    (raw.path / "info/grafts").write_text(f"{first} {second}\n")
    mirror = Mirror(directory=raw.path, url="https://git.example.org/x", partial=False)

    def asked():
        try:
            return len(open_graph(mirror).first_parent_line(second))
        except (GitError, ValueError) as error:
            return str(error)

    assert within(asked, seconds=5)
    assert Git(directory=raw.path).run("cat-file", "-t", second)
