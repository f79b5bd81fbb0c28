"""Questions about a whole repository are answered by the same judges, over a folder or an address."""

import json
import subprocess
from datetime import UTC, datetime

import pytest
from typer.testing import CliRunner

from watcher.asking import History
from watcher.cli import app
from watcher.demo.drawing import Gitlink
from watcher.errors import UsageError
from watcher.questions import answers, argument, labels, opened

NOW = datetime(2026, 8, 20, 9, 0, tzinfo=UTC)
PICTURE = r"""
          X---Y                (topic)
         /     \
A---B---C---D---M---E---R---F  (main)
     \
      P---Q                    (release/1.0, tag: v1.0.1)
"""
CODE = "int one;\nint two;\nint three;\n"
WORDS = {
    "Y": "Guard the second number",
    "M": "Merge pull request #7 from dana/fix-two\n\nGuard the second number",
    "E": "fix(core): third number was wrong\n\nFixes: {B}",
    "R": 'Revert "fix(core): third number was wrong"\n\nThis reverts commit {E}.',
    "F": "docs: say more",
}


@pytest.fixture
def drawn(upstream):
    """Draw a history with a merged fix, a fix that was reverted, and a release branch with a pick of the first."""
    files = {
        "A": {"src/n.c": CODE},
        "B": {"src/n.c": CODE + "int four;\n"},
        "X": {"README.md": "more"},
        "Y": {"src/n.c": (CODE + "int four;\n").replace("int two;", "int two = 2;")},
        "E": {"src/n.c": (CODE + "int four;\n").replace("int two;", "int two = 2;").replace("four", "four = 4")},
        "R": {"src/n.c": (CODE + "int four;\n").replace("int two;", "int two = 2;")},
        "F": {"README.md": "even more"},
        "P": {"src/n.c": (CODE + "int four;\n").replace("int two;", "int two = 2;")},
    }
    oids = upstream.draw(PICTURE, files=files, messages={"M": WORDS["M"], "Y": WORDS["Y"]})
    words = {name: text.format(**oids) for name, text in WORDS.items()}
    words["P"] = f"{WORDS['Y']}\n\n(cherry picked from commit {oids['Y']})"
    oids = upstream.draw(PICTURE, files=files, messages=words)
    words = {name: text.format(**oids) for name, text in WORDS.items()}
    words["P"] = f"{WORDS['Y']}\n\n(cherry picked from commit {oids['Y']})"
    return upstream.draw(PICTURE, files=files, messages=words)


@pytest.fixture
def history(upstream, drawn):
    """Open the repository as a folder."""
    return History(*opened(str(upstream.path)))


def test_a_pin_that_lacks_a_fix_and_has_its_lines(history, drawn):
    """It is affected, told where; the smallest bump is the merge, never the commit inside it."""
    said = history.answer(drawn["C"], [drawn["Y"]])
    assert ("affected", drawn["M"], drawn["M"]) == (said.answer, said.minimal, said.minimal_default)
    assert ("src/n.c:2",) == said.where


def test_a_pin_that_has_the_fix(history, drawn):
    """By the commit itself, or by a pick of it on another line."""
    assert "contains" == history.answer(drawn["D"], [drawn["C"]]).answer
    said = history.answer(drawn["Q"], [drawn["Y"]])
    assert ("contains", 0.99) == (said.answer, said.confidence)


def test_a_fix_that_was_reverted(history, drawn):
    """It is not proposed."""
    assert "reverted" == history.answer(drawn["D"], [drawn["E"]]).answer


def test_a_set_of_fixes_has_one_target(history, drawn):
    """The earliest published commit with all of them."""
    assert drawn["M"] == history.answer(drawn["B"], [drawn["D"], drawn["Y"]]).minimal


def test_lines_around_that_came_later(upstream):
    """The pin has the line that is repaired, but not the one beside it: less sure, and the reason says so."""
    more = CODE + "int five;\n"
    files = {
        "A": {"src/n.c": CODE},
        "B": {"src/n.c": more},
        "F": {"src/n.c": more.replace("three", "three = 3")},
    }
    drawn = upstream.draw("A---B---F  (main)", files=files, messages={"F": "fix: third number was wrong"})
    asked = History(*opened(str(upstream.path)))
    early, late = (asked.answer(drawn[pin], [drawn["F"]]) for pin in "AB")
    assert ("affected", "affected") == (early.answer, late.answer)
    assert early.reason == f"{late.reason}; lines around came later"
    assert early.confidence < late.confidence


def test_a_submodule_that_is_repaired(upstream):
    """A fix that moves a submodule leaves no line, but the path is in the pin: it is not said to be missing."""
    drawn = upstream.draw(
        "A---B---F  (main)",
        files={"A": {"lib": Gitlink("1" * 40)}, "F": {"lib": Gitlink("2" * 40)}},
        messages={"F": "fix: repaired library"},
    )
    said = History(*opened(str(upstream.path))).answer(drawn["B"], [drawn["F"]])
    assert ("affected", "it alters lib but leaves no line to trace") == (said.answer, said.reason)


def test_a_pin_before_the_bug(upstream, drawn):
    """The message that names the culprit decides; without messages the lines do."""
    told = History(*opened(str(upstream.path)))
    blind = History(*opened(str(upstream.path)), is_blind=True)
    assert drawn["B"] in told.known(drawn["E"]).fix.introduced
    assert () == blind.known(drawn["E"]).fix.introduced


def test_lines_of_questions_and_labels(history, drawn):
    """JSON lines in, JSON lines out; what cannot be answered says so and the rest goes on."""
    asked = [json.dumps({"id": "a", "pin": drawn["C"], "fix": "topic"}), "", json.dumps({"id": "b", "pin": "nope"})]
    first, second = answers(history, asked)
    assert ("a", "affected") == (first["id"], first["answer"])
    assert ("b", "unsure") == (second["id"], second["answer"])
    assert "expected a commit, branch or tag" in second["reason"]
    (kept,) = labels(history, [json.dumps({"sha": drawn["E"]})], strip_prefix=False)
    assert kept["fix"]
    assert kept["evidence"]
    (plain,) = labels(history, [json.dumps({"sha": drawn["F"]})], strip_prefix=True)
    assert not plain["fix"]


@pytest.mark.parametrize("line", ["nonsense", "[]", '{"id": 1}', '{"id": "a"}'])
def test_a_line_that_is_no_question_is_named(history, line):
    """The number of the line is told, and what was expected."""
    with pytest.raises(UsageError, match=r"\(standard input\):2: expected"):
        list(answers(history, ["", line]))


def test_a_content_that_is_missing_stops_no_other_question(upstream, drawn):
    """What cannot be read is an unsure answer with the reason; the next question is answered."""
    told = subprocess.run(
        ["git", "-C", upstream.path, "rev-parse", f"{drawn['B']}:src/n.c"], capture_output=True, text=True, check=True
    )
    blob = told.stdout.strip()
    for pack in (upstream.path / "objects" / "pack").glob("*.pack"):
        moved = pack.rename(upstream.path / pack.name)
        subprocess.run(["git", "-C", upstream.path, "unpack-objects", "-q"], input=moved.read_bytes(), check=True)
        pack.with_suffix(".idx").unlink()
    (upstream.path / "objects" / blob[:2] / blob[2:]).unlink()
    lines = [json.dumps({"id": fix, "pin": drawn["A"], "fix": drawn[fix]}) for fix in ("B", "F")]
    first, second = answers(History(*opened(str(upstream.path))), lines)
    assert ("unsure", "B") == (first["answer"], first["id"])
    assert "lacks 1 file contents" in first["reason"]
    assert "F" == second["id"]
    assert "unsure" != second["answer"]


def test_an_address_is_mirrored_and_asked(upstream, drawn, tmp_path, monkeypatch):
    """The same answers come over http; the mirror is kept in the user's cache."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    said = History(*opened(upstream.url)).answer(drawn["C"], [drawn["Y"]])
    assert ("affected", drawn["M"]) == (said.answer, said.minimal)
    assert list((tmp_path / "cache" / "watcher" / "mirrors").iterdir())


def test_everything_that_concerns_a_pin(upstream, drawn):
    """The whole argument, as `explain` gives it."""
    shown = argument(str(upstream.path), drawn["C"], NOW)
    assert "#7 “Guard the second number”" in shown
    assert f"smallest commit {drawn['M']}" in shown


def test_the_command(upstream, drawn):
    """One question from the command line, and what is asked wrongly."""
    path = str(upstream.path)
    one = CliRunner().invoke(app, ["ask", path, "--pin", drawn["C"], "--fix", drawn["Y"]])
    assert "affected" == json.loads(one.stdout)["answer"]
    both = CliRunner().invoke(app, ["ask", path, "--pin", drawn["C"], "--questions", "-"])
    assert isinstance(both.exception, UsageError)
    nowhere = CliRunner().invoke(app, ["ask", "/nowhere", "--pin", "x"])
    assert isinstance(nowhere.exception, UsageError)


def test_questions_that_are_no_text(upstream, tmp_path):
    """One line says which file, and what was expected."""
    upstream.draw("A---B   (main)")
    (tmp_path / "questions").write_bytes(b"\xff\n")
    said = CliRunner().invoke(app, ["ask", upstream.url, "--questions", str(tmp_path / "questions")])
    assert isinstance(said.exception, UsageError)
    assert f"{tmp_path}/questions: expected text in UTF-8, found other bytes" == str(said.exception)
