"""How does a bump change what a project needs, and what it reads from outside?"""

import pytest

from tests.judge.picture import named
from watcher.judge.contract import Difference, terms
from watcher.judge.switches import variables


def told(path, before, after, **more):
    """Return what is said of one file that differs."""
    texts = ({path: text} if text is not None else {} for text in (before, after))
    old, new = texts
    return [(it.place, it.said) for it in terms(Difference(paths=(path,), before=old, after=new, **more))]


PYPROJECT = '[build-system]\nrequires = ["{}"]\n[project]\nrequires-python = "{}"\ndependencies = [{}]\n'


@pytest.mark.parametrize(
    ("path", "before", "after", "said"),
    [
        (
            "pyproject.toml",
            PYPROJECT.format("setuptools", ">=3.8", '"torch>=2"'),
            PYPROJECT.format("setuptools>=70", ">=3.10", '"torch>=2.4", "ninja"'),
            [
                "build requirement setuptools: any → >=70",
                "Python: >=3.8 → >=3.10",
                "dependency torch: >=2 → >=2.4",
                "new dependency ninja",
            ],
        ),
        ("pyproject.toml", '[project.scripts]\na = "m:f"\n', "", ["console script a m:f is gone"]),
        (
            "pyproject.toml",
            '[project.optional-dependencies]\ncu12 = ["a"]\n',
            '[project.optional-dependencies]\ncu12 = ["a>1"]\n',
            ["dependency of extra cu12: a: any → >1"],
        ),
        (
            "pyproject.toml",
            '[tool.poetry.dependencies]\npython = "^3.9"\n',
            '[tool.poetry.dependencies]\npython = "^3.9"\nNinja = {version = "1"}\n',
            ["new dependency ninja {'version': '1'}"],
        ),
        (
            "setup.py",
            "setup(install_requires=['torch'])",
            "NEEDS = ['torch', f'x{y}']\nsetup(install_requires=NEEDS, python_requires='>=3.9')",
            ["new Python >=3.9"],
        ),
        (
            "setup.py",
            "setup()",
            """
import setuptools
scripts = {"console_scripts": ["pool = pool:main"]}
setuptools.setup(setup_requires="ninja", extras_require={"dev": ["pytest"]}, entry_points=scripts)
""",
            [
                "new build requirement ninja",
                "new dependency of extra dev: pytest",
                "new console script pool pool:main",
            ],
        ),
        (
            "setup.cfg",
            "[options]\ninstall_requires =\n    torch\n",
            "[options]\ninstall_requires =\n    torch<3\npython_requires = >=3.9\n",
            ["dependency torch: any → <3", "new Python >=3.9"],
        ),
        (
            "requirements-cuda.txt",
            "torch==2.1  # why\n-r other.txt\n",
            "torch==2.2 --hash=sha256:1\n",
            ["dependency torch: ==2.1 → ==2.2"],
        ),
        (
            "CMakeLists.txt",
            'option(USE_ROCM "for ROCm" OFF)\nset(ARCH "80" CACHE STRING "")\nfind_package(CUDA 11)\n',
            """
OPTION(USE_ROCM "for ROCm" ON)  # option(NOT "x" ON)
cmake_dependent_option(FAST "" ON "A" OFF)
set(ARCH "90" CACHE STRING "")
find_package(CUDA 12 REQUIRED)
cmake_minimum_required(VERSION 3.26)
""",
            [
                "CMake option USE_ROCM: OFF → ON",
                "CMake variable ARCH: 80 → 90",
                "CMake package CUDA: 11 → 12",
                "new CMake option FAST ON",
                "new CMake >=3.26",
            ],
        ),
        ("cmake/pool.cmake", None, 'option(NEW "without a default")\n', ["new CMake option NEW OFF"]),
        ("setup.py", "setup()", None, ["is gone"]),
        ("setup.py", "setup(x)", "setup(y)", ["differs in what we cannot read"]),
        ("meson.build", "a", "b", ["differs in what we cannot read"]),
        ("setup.py", "setup(", "(" * 5000, ["differs in what we cannot read"]),
        ("tests/setup.py", "setup()", "setup(install_requires=['x'])", []),
        ("docs/requirements.txt", "a", "b", []),
    ],
)
def test_a_file(path, before, after, said):
    """What a file asks for is compared; what cannot be read is said to differ, tests and documents are left out."""
    assert said == [words for place, words in told(path, before, after)]


def test_many_files_that_cannot_be_read():
    """They are told in one line."""
    paths = tuple(f"part{number}/meson.build" for number in range(8))
    [term] = terms(Difference(paths=paths, before={}, after={}))
    assert ", part5/meson.build and 2 more" in term.place
    assert "differ in what we cannot read" == term.said


def test_submodules():
    """Submodules that come, go, move, or come from elsewhere are told."""
    modules = '[submodule "{0}"]\n\tpath = {0}\n\turl = https://example.org/{1}\n'
    found = terms(
        Difference(
            paths=(".gitmodules", "third_party/a", "third_party/b", "third_party/c"),
            before={".gitmodules": modules.format("third_party/a", "a") + modules.format("third_party/b", "b")},
            after={".gitmodules": modules.format("third_party/a", "fork") + modules.format("third_party/c", "c")},
            submodules_before={"third_party/a": named("A"), "third_party/b": named("B")},
            submodules_after={"third_party/a": named("X"), "third_party/c": named("C")},
        )
    )
    assert [
        ("third_party/a", f"submodule {named('A')[:12]} → {named('X')[:12]}"),
        ("third_party/a", "submodule comes from https://example.org/fork in place of https://example.org/a"),
        ("third_party/b", "submodule is gone"),
        ("third_party/c", f"new submodule at {named('C')[:12]}"),
    ] == [(it.place, it.said) for it in found]


@pytest.mark.parametrize(
    ("path", "line", "name"),
    [
        ("a.py", 'os.environ["POOL_X"]', "POOL_X"),
        ("a.py", "os.environ.get('POOL_X', '1')", "POOL_X"),
        ("a.py", 'environ.setdefault("POOL_X", "1")', "POOL_X"),
        ("a.py", 'os.getenv("POOL_X")', "POOL_X"),
        ("a.py", 'get_bool_env_var("POOL_X")', "POOL_X"),
        ("a.cpp", 'std::getenv("POOL_X")', "POOL_X"),
        ("a.cpp", 'dmlc::GetEnv("POOL_X", 1)', "POOL_X"),
        ("a.rs", 'std::env::var("POOL_X")', "POOL_X"),
        ("a.rs", 'env!("POOL_X")', "POOL_X"),
        ("a.go", 'os.Getenv("POOL_X")', "POOL_X"),
        ("a.go", 'os.LookupEnv("POOL_X")', "POOL_X"),
        ("a.js", "process.env.POOL_X", "POOL_X"),
        ("a.js", 'process.env["POOL_X"]', "POOL_X"),
        ("a.rb", "ENV['POOL_X']", "POOL_X"),
        ("a.rb", 'ENV.fetch("POOL_X")', "POOL_X"),
        ("CMakeLists.txt", "$ENV{POOL_X}", "POOL_X"),
        ("a.sh", 'echo "${POOL_X:-1}"', "POOL_X"),
        ("a.py", 'f"${POOL_X:-1}"', None),
        ("a.py", 'getenv("lower")', None),
        ("a.py", 'invent("POOL_X")', None),
    ],
)
def test_variables(path, line, name):
    """A variable of the environment is found by the ways in which languages read one."""
    assert ({name: 2} if name else {}) == variables(path, f"first\n{line}\n")


def test_new_variables():
    """Only what no changed file read before is new; what none reads any more is gone."""
    found = terms(
        Difference(
            paths=("a.py", "b.py"),
            before={"a.py": 'getenv("MOVED")\ngetenv("OLD")\n', "b.py": ""},
            after={"a.py": "", "b.py": 'getenv("MOVED")\ngetenv("NEW")\n'},
        )
    )
    assert [
        ("b.py:2", "newly reads environment variable NEW"),
        ("a.py:2", "no longer reads environment variable OLD"),
    ] == [(it.place, it.said) for it in found]


def test_what_was_not_read():
    """Where too much differs, that nobody looked is said."""
    [term] = terms(Difference(paths=(), before={}, after={}, unread=2000))
    assert "not looked for: 2000 shipped files differ" == term.said


@pytest.mark.parametrize("text", ["option(", "set(A ", "getenv(", 'environ["', "${A", "env", "_env_", "find_package( "])
def test_hostile(text):
    """A crowd of anything keeps no expression busy (the timeout would tell)."""
    many = text * 50_000
    told("CMakeLists.txt", many, many + "x")
    assert {} == variables("a.sh", many)
