"""Describe the machine that figures were taken on."""

import os
import platform
import sqlite3
import subprocess
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

_LIBRARIES = ("httpx", "numpy", "sqlite-utils", "pydantic", "dulwich", "nvchecker")


def described() -> Iterator[tuple[str, str]]:
    """Yield what and how much."""
    yield "processor", f"{_value('/proc/cpuinfo', 'model name')}, {os.cpu_count()} cores"
    yield "memory", f"{int(_value('/proc/meminfo', 'MemTotal').split()[0]) / 1024**2:.1f} GB"
    yield "kernel", f"{platform.system()} {platform.release()}"
    yield "Python", platform.python_version()
    yield "git", _first_line("git", "--version").removeprefix("git version ")
    yield "nginx", _first_line("nginx", "-v").rpartition("/")[2] or "not installed"
    yield "SQLite", sqlite3.sqlite_version
    yield "libraries", ", ".join(f"{name} {_version(name)}" for name in _LIBRARIES)


def load() -> str:
    """Return how busy the machine is: the mean of running processes over 1, 5 and 15 minutes."""
    return ", ".join(f"{figure:.2f}" for figure in os.getloadavg())


def _value(file: str, name: str) -> str:
    """Return what the kernel says under a name; nothing where it does not say."""
    try:
        lines = Path(file).read_text().splitlines()
    except OSError:
        return "0 unknown"
    return next((line.partition(":")[2].strip() for line in lines if line.startswith(name)), "0 unknown")


def _first_line(*command: str) -> str:
    try:
        done = subprocess.run(command, check=False, capture_output=True, text=True)
    except OSError:
        return ""
    return (done.stdout or done.stderr).partition("\n")[0]


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"
