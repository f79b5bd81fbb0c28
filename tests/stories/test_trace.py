"""From a red nightly to the landing: the made-up twin of the worked example, read from a log, answers with the bump."""

import json
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.stories.test_two_fixes import NAME, PICTURE, STORY
from tests.stories.world import HOST, manifest
from watcher.config import Settings
from watcher.demo.server import Status
from watcher.errors import UsageError
from watcher.report.trace import document, render
from watcher.store import Store
from watcher.tracing import traced, traced_without_configuration

NOW = datetime(2026, 8, 20, 9, 0, tzinfo=UTC)
PROGRAM = Path(sys.executable).with_name("watcher")
ERROR = "CUresult error: 1 (invalid argument) file=csrc/shelf.cpp func=shelf_free line=12"


@pytest.fixture
def shelf(world):
    """Offer a world in which both images pin P of the shelf, and another upstream that has nothing to do with it."""
    oids = world.upstream(NAME).draw(PICTURE, **STORY)
    world.pin(NAME, cuda=oids["P"], rocm=oids["P"])
    world.pin("acme/engine", cuda=world.engine.draw("A---B---C   (main)")["A"])
    world.prepare()
    return world


def trace(world, text=ERROR, only=""):
    """Trace an error through the world."""
    settings = Settings.model_validate(world.document())
    with Store.open(settings.state) as store:
        return traced(settings, store, text, only=only, now=world.now)


def numbers(found):
    """Return the pull requests of the first pin, as ranked."""
    return [step.ranked.landing.change.pull_request for step in found.traces[0].steps]


def test_the_fix_comes_first(shelf):
    """#42, whose title does not say that it is a fix: by file, function and line."""
    found = trace(shelf)
    assert 42 == numbers(found)[0]
    [first, *_] = found.traces[0].steps
    assert {"file", "line", "function"} <= {part.what for part in first.ranked.parts}
    assert (shelf.upstream(NAME).oids["N"], 5, 2) == (first.target.to, first.target.commits, first.target.landings)


def test_pins_of_one_commit_are_told_once(shelf):
    """CUDA and ROCm together, and the upstream that has nothing to do with it last."""
    found = trace(shelf)
    assert [["cuda", "rocm"], ["cuda"]] == [[pin.variant for pin in it.pins] for it in found.traces]
    assert () == found.traces[1].steps
    text = render(found.said, found.traces)
    assert f"{manifest('cuda')}:3 (cuda)" in text
    assert "engine, docker/Dockerfile.cuda:3 (cuda): none of 2 landings after" in text


def test_the_text_says_why_and_what_to_do(shelf):
    """The reasons, the lines in the pin, the smallest commit."""
    found = trace(shelf)
    text = " ".join(render(found.said, found.traces).split())
    assert "1. #42 Handle pages that are on the shelf in shelf_free" in text
    assert "csrc/shelf.cpp is named and changed" in text
    assert "changes `shelf_free`, which the error names" in text
    assert "likely fix, the pin is affected (csrc/shelf.cpp:11" in text
    assert f"smallest commit with it {shelf.upstream(NAME).oids['N']} (5 commits, 2 landings)" in text


def test_a_whole_log_with_colours(shelf):
    """Thousands of lines around the error, a build folder before the path, escapes of the terminal."""
    quiet = "".join(f"[{number}/4000] \x1b[32mBuilding\x1b[0m object part{number}.o\n" for number in range(4000))
    log = f"{quiet}\x1b[31m/tmp/build/x/csrc/shelf.cpp:12:5: error: in function 'shelf_free'\x1b[0m\r\n{quiet[:500]}"
    assert 42 == numbers(trace(shelf, log))[0]


def test_a_pin_can_be_named(shelf):
    """By its name; one that nobody has is a mistake."""
    assert [NAME.split("/")[1]] == [it.pins[0].name for it in trace(shelf, only="vram-shelf").traces]
    with pytest.raises(UsageError, match="there are pins of"):
        trace(shelf, only="vram-shelves")


def test_a_pin_that_has_the_fix_is_not_told_of_it(shelf):
    """It landed before the pin."""
    shelf.pin(NAME, cuda=shelf.upstream(NAME).oids["N"], rocm=shelf.upstream(NAME).oids["O"])
    shelf.prepare()
    found = trace(shelf)
    assert all(step.ranked.landing.change.pull_request != 42 for it in found.traces for step in it.steps)
    assert "nothing landed after" in render(found.said, found.traces)


def test_a_pin_that_no_ref_holds_is_said_to_be_lost(shelf):
    """Nothing landed after what is on no line."""
    shelf.look()
    shelf.upstream(NAME).draw("A---B---X   (main)", **STORY)
    found = trace(shelf, only="vram-shelf")
    assert "see watcher explain" in render(found.said, found.traces)


def test_strangers_cannot_draw_over_the_answer(world):
    """A title with escapes and a path with marks that reorder text are shown without them."""
    files = {"A": {"a.c": "int a;\n"}, "F": {"a.c": "int b;\n"}}
    oids = world.engine.draw("A---F   (main)", files=files, messages={"F": "\x1b[2Jfix: \u202ea is wrong"})
    world.pin(cuda=oids["A"])
    world.prepare()
    found = trace(world, "a.c:1: \x1b]0;title\x07broken")
    text = render(found.said, found.traces)
    assert "a is wrong" in text
    assert not {"\x1b", "\u202e", "\x07"} & set(text)


def test_the_document_says_the_same(shelf):
    """Version 1: the parts of the score by name."""
    found = trace(shelf)
    told = json.loads(json.dumps(document(found.said, found.traces, found.unobserved)))
    first = told["traces"][0]["first"][0]
    assert (1, 42, "likely", "yes") == (told["version"], first["pull_request"], first["grade"], first["affected"])
    assert ["csrc/shelf.cpp"] == first["parts"]["file"]["named"]
    assert {"csrc/shelf.cpp": [12]} == told["named"]["files"]


def test_without_configuration(shelf):
    """A folder or an address, and a commit."""
    upstream = shelf.upstream(NAME)
    for place in (str(upstream.path), upstream.url):
        found = traced_without_configuration(place, upstream.oids["P"], ERROR, now=NOW)
        assert 42 == numbers(found)[0]


def test_nothing_is_recorded(shelf):
    """An error that is looked up is no pass."""
    trace(shelf)
    with Store.open(shelf.state) as store:
        assert () == store.events()
        assert {} == store.readings()


def run(world, *args, text=None):
    """Run the program in the world's folder."""
    command = [PROGRAM, "trace", *args]
    return subprocess.run(
        command, cwd=world.folder, input=text, capture_output=True, text=True, timeout=60, check=False
    )


def test_the_command(shelf):
    """0 with the answer, from the argument or from standard input; as JSON; 2 for what cannot be meant."""
    done = run(shelf, ERROR)
    assert (0, "") == (done.returncode, done.stderr)
    assert "1. #42" in done.stdout
    piped = run(shelf, "-", "--format", "json", text=f"noise\n{ERROR}\n")
    assert 42 == json.loads(piped.stdout)["traces"][0]["first"][0]["pull_request"]
    assert 0 == run(shelf, "quite another thing").returncode
    assert 2 == run(shelf, ERROR, "--pin", "nothing").returncode
    assert 2 == run(shelf, ERROR, "--upstream", f"{HOST}acme/engine").returncode


def test_3_where_the_answer_may_be_where_we_could_not_look(shelf):
    """Nothing found, and an upstream is silent: said on stderr. Where something is found, that is an answer."""
    shelf.upstream(NAME).fault(Status(code=503))
    done = run(shelf, ERROR)
    assert 3 == done.returncode
    assert "could not look at" in done.stderr
    shelf.upstream(NAME).fault(None)
    shelf.engine.fault(Status(code=503))
    assert 0 == run(shelf, ERROR).returncode
