"""The unit for systemd gives the service as little power as it can do with."""

import configparser
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

UNIT = Path(__file__).parent.parent / "contrib" / "watcher.service"
MOST = 2.0


def test_its_exposure_is_small():
    """As systemd itself judges it."""
    program = shutil.which("systemd-analyze")
    if program is None and not os.environ.get("WATCHER_NO_SKIP"):
        pytest.skip("systemd-analyze is not on PATH: the unit's exposure is not judged")
    command = [str(program), "security", "--offline=true", "--no-pager", str(UNIT)]
    said = subprocess.run(command, capture_output=True, text=True, check=True, env={**os.environ, "LC_ALL": "C"}).stdout
    [level] = re.findall(r"Overall exposure level for .*: ([0-9.]+)", said)
    assert MOST >= float(level)


def test_it_writes_nowhere_but_to_its_state():
    """The file system is read-only but for the folders that systemd makes for it, and it is no known user."""
    unit = configparser.RawConfigParser(strict=False)
    unit.optionxform = str
    unit.read(UNIT)
    service = unit["Service"]
    assert "strict" == service["ProtectSystem"]
    assert "yes" == service["DynamicUser"]
    assert "yes" == service["NoNewPrivileges"]
    assert "ReadWritePaths" not in service
