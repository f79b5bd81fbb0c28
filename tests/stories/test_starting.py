"""A short command is short: what it does not need is not imported."""

import json
import subprocess
import sys

import pytest

from tests.stories.world import HOST

PROGRAM = """
import json, sys
from watcher.cli import app

try:
    app(sys.argv[1:])
finally:
    with open("modules.json", "w") as file:
        json.dump(sorted(sys.modules), file)
"""
SERVING = {"apscheduler", "prometheus_client", "slack_sdk", "starlette", "structlog", "uvicorn", "websocket"}
WRITING = {"css_inline", "jinja2", "markdown_it", "unidiff"}
MANY = {"dask", "distributed"}
LOOKING = {
    "asyncio",
    "httpx",
    "numpy",
    "packaging",
    "pydantic",
    "re2",
    "sqlite3",
    "sqlite_utils",
    "tree_sitter",
    "yaml",
}


@pytest.fixture
def imported(world):
    """Return how to run a command in the world's folder, and learn what it imported."""

    def imported(*args):
        world.prepare()
        command = [sys.executable, "-c", PROGRAM, *args]
        done = subprocess.run(command, cwd=world.folder, capture_output=True, text=True, timeout=60, check=False)
        assert 0 == done.returncode, done.stderr
        return set(json.loads((world.folder / "modules.json").read_text()))

    return imported


def test_help_is_words_alone(imported):
    """Of ours it needs the command line and the words of its options; of others, what prints it."""
    found = imported("--help")
    assert {"watcher", "watcher.cli", "watcher.errors", "watcher.model", "watcher.plural"} == {
        name for name in found if name.partition(".")[0] == "watcher"
    }
    assert not found & (SERVING | MANY | LOOKING | (WRITING - {"markdown_it"}))


READING = {"packaging", "tree_sitter"}
JUDGING = {"assess", "asking", "bumping", "conclude", "examine", "forges", "materials", "observe", "pins"}
ELSEWHERE = {"digesting", "metrics", "proposing", "rescuing", "service", "serving", "tracing"}


def test_a_check_of_nothing_new_needs_no_more_than_a_look(world, imported):
    """Nothing changed upstream or downstream: nothing that reads manifests, judges, serves, sends or edits is there."""
    oids = world.engine.draw("A---B   (main)")
    world.config["pins"] = [{"upstream": f"{HOST}acme/engine", "ref": oids["A"], "variant": "rocm"}]
    world.downstream("images", served=True).pin("acme/engine", cuda=oids["A"])
    for _ in range(2):
        found = imported("check")
    ours = {name.removeprefix("watcher.") for name in found if name.startswith("watcher.")}
    assert not found & (SERVING | MANY | WRITING | READING | {"numpy", "sqlite_utils", "stamina", "tenacity"})
    assert not ours & (ELSEWHERE | JUDGING)
    assert {"judge", "judge.concerns", "judge.drift", "judge.offers"} == {it for it in ours if it.startswith("judge")}


def test_the_schema_of_the_configuration_is_made_for_those_who_ask(world, imported):
    """What describes the configuration to editors is read from its source, at no other start."""
    world.pin(cuda="v1.0")
    assert "watcher.config.described" in imported("config", "schema")
    assert "watcher.config.described" not in imported("config", "check")
