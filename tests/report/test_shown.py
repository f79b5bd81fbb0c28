"""What people see, compared with golden files: read them when they change."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tests.report import passes
from watcher.model import Event, EventKind, Pin, Reachability, ReachabilityClass, Repair
from watcher.report import alert, markdown, table
from watcher.report import json as as_json
from watcher.report.explain import Argument, render
from watcher.web import pages

GOLDEN = Path(__file__).parent / "golden"
HOSTILE = "\x1b]8;;http://evil\x07a\u202eb\u200b<!channel>\r\nSubject: x`|[y](z)"


def golden(name: str, shown: str) -> None:
    """Hold what is shown against the file of that name; delete the file to write it anew."""
    path = GOLDEN / name
    if not path.exists():
        path.parent.mkdir(exist_ok=True)
        path.write_text(shown, encoding="utf-8")
        pytest.fail(f"{path} did not exist; it was written: read it, then run again")
    assert path.read_text(encoding="utf-8") == shown


def pins_by_id() -> dict[str, Pin]:
    """Return the pins of the pass with everything."""
    return {pin.id: pin for pin in passes.everything().pins}


def test_table():
    """The table tells the worst first, equal words for several pins once, and what to do."""
    golden("table.txt", table.render(passes.everything()))


def test_narrow_table():
    """At 60 columns every line is wrapped under its own column."""
    shown = table.render(passes.everything(), width=60)
    assert all(len(line) <= 60 for line in shown.splitlines() if passes.NEW not in line)
    golden("table-narrow.txt", shown)


def test_nothing_to_tell():
    """Without findings the table is empty, and the summary says so."""
    found = passes.nothing()
    assert "" == table.render(found)
    assert "1 pins, 1 of 1 upstreams observed: no findings" == table.summary(found)


def test_summary():
    """The summary counts findings by severity and the upstreams that were observed."""
    assert "4 pins, 3 of 3 upstreams observed: 1 high, 3 medium, 1 low" == table.summary(passes.everything())


def test_color_is_only_for_terminals():
    """No escape is written unless color is asked for."""
    assert "\x1b" not in table.render(passes.everything())
    assert "\x1b[" in table.render(passes.everything(), color=True)


def test_pins():
    """The list of pins aligns place, upstream, ref and variant."""
    unknown = passes.pin(name="other", upstream=None, line=50, variant="any")
    unresolved = passes.pin(name="late", ref=None, kind=passes.RefKind.UNRESOLVED, line=60)
    follows = passes.pin(name="flash", ref=None, kind=passes.RefKind.DEFAULT_BRANCH, line=70)
    shown = table.render_pins([*passes.everything().pins, unknown, unresolved, follows], ["broken.txt:1: no"])
    golden("pins.txt", shown)


def test_markdown():
    """The Markdown has a section for each dependency, and nothing in it is read as markup by accident."""
    golden("pass.md", markdown.render(passes.everything()))


def test_markdown_of_nothing():
    """Without findings the Markdown says how many pins were looked at."""
    assert "No findings for 1 pins." in markdown.render(passes.nothing())


def test_json():
    """The JSON has every key of version 1."""
    golden("pass.json", as_json.render(passes.everything()))


def test_alerts():
    """Alerts that differ in their place alone are told together; a resolved one says no more than that."""
    found = passes.everything()
    events = [Event(kind=EventKind.OPENED, finding=finding, at=passes.NOW) for finding in found.findings[:4]]
    golden("alerts.txt", alert.plain(alert.alerts([*events, *found.events], pins_by_id())))


def argument(**more) -> Argument:
    """Return the argument about the pin of the worked example."""
    made = Argument(
        pin=passes.CUDA,
        commit=passes.OLD,
        reachability=passes.everything().reachability[passes.CUDA.id],
        bound=passes.OLD,
        verdicts={passes.FIX.id: passes.verdict()},
        fixes={passes.FIX.id: passes.FIX},
        repairs={passes.NEW: Repair(landing=passes.NEW, bound=None, anchors=(), added=2, removed=0)},
        single={passes.FIX.id: passes.RUNG},
        suggestion=passes.suggestion(passes.CUDA),
        pages=pages(passes.SAVER),
        mirror="state/mirrors/saver.git",
    )
    return replace(made, **more)


def test_explain():
    """The argument has the pin, its reachability, each fix with its receipts and pages, the target, and commands."""
    golden("explain-default.txt", render(argument()))


def test_explain_the_unknown():
    """Of a commit that is not known there is little to say, and nothing to link."""
    said = Reachability(cls=ReachabilityClass.UNKNOWN, detail="the short id may mean several")
    golden("explain-unknown.txt", render(argument(commit=None, reachability=said, verdicts={}, suggestion=None)))


def test_explain_links_files_once():
    """The blame is linked at the first place in each of the first files; on an unknown host nowhere."""
    where = ("a.c:1", "a.c:2", "b.c:3", "c.c:4", "d.c:5")
    said = argument(verdicts={passes.FIX.id: passes.verdict(where=where)})
    linked = [line.rpartition("/")[2] for line in render(said).splitlines() if "/blame/" in line]
    assert ["a.c#L1", "b.c#L3", "c.c#L4"] == linked
    assert "/blame/" not in render(replace(said, pages=pages("https://git.example.org/acme/saver")))


def test_hostile_text_stays_text():
    """A title from a stranger moves no cursor, breaks no line, opens no link, wherever it is shown."""
    found = passes.everything()
    finding = found.findings[0]
    evil = replace(finding, concern=replace(finding.concern, headline=HOSTILE, detail=(HOSTILE,), advice=HOSTILE))
    attacked = replace(found, findings=(evil,), suggestions=())
    events = [Event(kind=EventKind.OPENED, finding=evil, at=passes.NOW)]
    for shown in (
        table.render(attacked),
        markdown.render(attacked),
        alert.plain(alert.alerts(events, pins_by_id())),
        as_json.render(attacked),
    ):
        assert not set("\x1b\x07\u202e\u200b\r") & set(shown)
        assert not any(line.startswith("Subject:") for line in shown.splitlines())
    assert "<!channel>" not in markdown.render(attacked)
    assert "[y](z)" not in markdown.render(attacked)


def test_long_text_is_shortened():
    """Ten megabytes of title become one readable line."""
    found = passes.everything()
    finding = found.findings[0]
    long = replace(finding, concern=replace(finding.concern, headline="x" * 10_000_000))
    assert len(table.render(replace(found, findings=(long,), suggestions=()))) < 2000


def test_json_is_ascii():
    """The JSON holds no byte that could steer a terminal, and reads back to the same words."""
    shown = as_json.render(passes.everything())
    assert shown.isascii()
    assert "saver: #95 “Do not" in json.loads(shown)["findings"][0]["headline"]
