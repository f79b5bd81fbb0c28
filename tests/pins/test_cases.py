"""The cases whose answers are known: file, line, upstream, ref, kind, variant and all else exact."""

import json
from pathlib import Path

import pytest

from watcher.model import oid
from watcher.pins import discover, is_claimed, read

CASES = Path(__file__).parent / "cases"
NOT_INPUT = {"expected.json", "gitlinks.txt"}
READ = [case for case in sorted(CASES.iterdir()) if case.is_dir()]


def gitlinks(case):
    """Return the submodule entries that a folder of files cannot hold."""
    rows = (case / "gitlinks.txt").read_text().splitlines() if (case / "gitlinks.txt").exists() else []
    return {path: oid(head.split()[2]) for head, path in (row.split("\t") for row in rows)}


def answer(pin):
    """Return what is compared of an expected pin."""
    fields = ("file", "line", "upstream", "name", "ref", "ref_kind", "resolved_ref", "branch", "where")
    return (*(pin.get(field) for field in fields), pin.get("variant", "any"), tuple(pin.get("also", ())))


@pytest.mark.parametrize("case", READ, ids=lambda case: case.name)
def test_case(case, tmp_path):
    """Discovery finds exactly what the case says, no more and no less, and warns of nothing."""
    names = [path.relative_to(case).as_posix() for path in case.rglob("*") if path.is_file()]
    for name in set(names) - NOT_INPUT:
        target = tmp_path / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes((case / name).read_bytes())
    found = discover(read(tmp_path, None, gitlinks(case), claims=is_claimed))
    expected = json.loads((case / "expected.json").read_text())["pins"]
    assert {answer(pin) for pin in expected if not pin.get("optional")} == {
        (
            *(pin.file, pin.line, pin.upstream, pin.name, pin.ref, pin.ref_kind.value),
            *(pin.resolved_ref, pin.branch, pin.where, pin.variant, pin.also),
        )
        for pin in found.pins
    }
    assert () == found.warnings
