"""What the README says is what the program does."""

import json
import re
from pathlib import Path

import yaml
from typer.main import get_command

from watcher.cli import Exit, app
from watcher.config import Settings, schema
from watcher.model import Kind
from watcher.pins import FORMATS

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_every_command_is_described_as_its_help_does():
    """The table of commands is the program's own help."""
    commands = get_command(app).commands
    rows = dict(re.findall(r"^\| `watcher (\w+)` \| (.+) \|$", README, re.MULTILINE))
    assert {name: command.help.split("\n")[0] for name, command in commands.items()} == rows


def test_every_kind_of_finding_is_named():
    """Each id of a finding stands in the README, and no other."""
    table = README.split("Being behind")[0]
    assert {kind.value for kind in Kind} == set(re.findall(r"`([a-z]+-[a-z-]+)`", table))


def test_every_format_is_named():
    """Each format of pins stands in the table, and no other."""
    table = README.split("## What is read")[1].split("Values are followed")[0]
    rows = [row for row in table.splitlines() if row.startswith("| ")]
    assert set(FORMATS) == set(re.findall(r"`([a-z-]+)`", "\n".join(rows)))


def test_every_exit_code_is_named():
    """The exit codes are the program's."""
    rows = re.findall(r"^\| (\d+) \| .+ \|$", README, re.MULTILINE)
    assert sorted(code.value for code in Exit) == sorted(map(int, rows))


def test_the_example_configuration_is_valid():
    """The configuration of the README loads."""
    example = re.search(r"```yaml\n(.+?)```", README, re.DOTALL)[1]
    settings = Settings.model_validate(yaml.safe_load(example))
    assert ("cuda", "rocm") == tuple(manifest.variant for manifest in settings.downstreams[0].manifests)


def test_the_schema_has_every_key():
    """What `watcher config schema` prints names every key of the settings."""
    assert set(Settings.model_fields) == set(json.loads(json.dumps(schema()))["properties"])
