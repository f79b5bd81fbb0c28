"""What does a bump change beside code?"""

import pytest

from watcher.judge.contract import contract_files, package_version


@pytest.mark.parametrize(
    ("path", "text", "version"),
    [
        ("pyproject.toml", '[project]\nname = "pool"\nversion = "0.0.9.post1"\n', "0.0.9.post1"),
        ("pyproject.toml", '[tool.poetry]\nversion = "1.2.3"\n', "1.2.3"),
        ("pyproject.toml", '[project]\ndynamic = ["version"]\n', None),
        ("pyproject.toml", "[project]\nversion = 3\n", None),
        ("pyproject.toml", "[project\nversion", None),
        ("pyproject.toml", "project = 1\ntool = 2\n", None),
        ("pyproject.toml", "tool = {poetry = 2}\n", None),
        ("pyproject.toml", "[tool]\npoetry = []\n", None),
        ("pyproject.toml", "a = " + "[" * 5000, None),
        ("setup.cfg", "[metadata]\nname = pool\nversion = 1.2.3\n", "1.2.3"),
        ("setup.cfg", "[metadata]\nversion = attr: pool.__version__\n", None),
        ("setup.cfg", "[metadata]\nversion = 1.2.3\n    and more\n", None),
        ("setup.cfg", "[metadata]\nversion = %(x)s\n", None),
        ("setup.cfg", "[metadata]\n[metadata]\n", None),
        ("setup.cfg", "version = 1\n", None),
        ("setup.py", "from setuptools import setup\nsetup(name='pool', version='1.2.3')\n", "1.2.3"),
        ("setup.py", "import setuptools\nVERSION = '1.2.3'\nsetuptools.setup(version=VERSION)\n", "1.2.3"),
        ("setup.py", "ext = Extension(version='9')\nsetup(ext_modules=[ext], version='1.2.3')\n", "1.2.3"),
        ("setup.py", "ext = Extension(version='9')\nsetup(ext_modules=[ext])\n", None),
        ("setup.py", "import re\nre.search('\\d', '1')\nsetup(version='1.2.3')\n", "1.2.3"),
        ("setup.py", "setup(version=open('VERSION').read())\n", None),
        ("setup.py", "setup(version=f'{major}.1')\n", None),
        ("setup.py", "setup(version=1)\n", None),
        ("setup.py", "setup(version=", None),
        ("setup.py", "setup(version='1')\0", None),
        ("setup.py", "(" * 5000, None),
        ("setup.py", "-" * 50_000 + "1", None),
        ("version.txt", "1.2.3\n", "1.2.3"),
        ("VERSION", "  v2.0-rc1\nmore\n", "v2.0-rc1"),
        ("VERSION", "", None),
        ("VERSION", "see git\n", None),
        ("VERSION", "1.2.3 \x1b[31mred\n", None),
        ("VERSION", f"1{'0' * 500}\n", None),
        (
            "CMakeLists.txt",
            "cmake_minimum_required(VERSION 3.18)\nproject(pool LANGUAGES CXX VERSION 1.2.3)\n",
            "1.2.3",
        ),
        ("CMakeLists.txt", "cmake_minimum_required(VERSION 3.18)\nproject(pool LANGUAGES CXX)\n", None),
        ("CMakeLists.txt", "  PROJECT (\n  pool\n  VERSION 1.2\n)\n", "1.2"),
        ("CMakeLists.txt", "project(pool VERSION ${V})\n", None),
    ],
)
def test_versions(path, text, version):
    """A version is read from the file that states it; what states none, or is broken, gives none."""
    assert version == package_version({path: text})


def test_order():
    """The first file that states a version is believed; one that states none passes the question on."""
    texts = {
        "CMakeLists.txt": "project(pool VERSION 3)",
        "setup.py": "setup(version='2')",
        "pyproject.toml": "[project]",
    }
    assert "2" == package_version(texts)
    assert None is package_version({})


@pytest.mark.parametrize("text", ["\n", " ", "project(", "\nproject(", "project(pool VERSION ", "\t\n"])
def test_hostile_cmake(text):
    """A crowd of anything keeps no expression busy (the timeout would tell)."""
    assert None is package_version({"CMakeLists.txt": text * 100_000})


def test_contract_files():
    """Build files are the contract wherever they lie; sources are not."""
    paths = (
        "setup.py",
        "python/pyproject.toml",
        "csrc/CMakeLists.txt",
        "cmake/pool.cmake",
        ".gitmodules",
        "requirements-cuda.txt",
        "requirements/base.txt",
        "csrc/core.cpp",
        "mysetup.py",
    )
    assert paths[:6] == contract_files(paths)
