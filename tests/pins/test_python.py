"""Python programs."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.pins.seeing import broken, pins, seen
from watcher.pins import Broken, Checkout, python

SHA = "f05a8754daf68238d54e4cf31cb3ba866684bbaf"
OTHER = "b5588e83de86412a48689a6583a4b567e75f7acc"


def told(text, path="tools/build.py", **others):
    """Return what is found in a program, without the name of its file."""
    return [one.removeprefix(f"{path}:") for one in seen(python, path, text, **others)]


def test_claims():
    """Programs have their suffix."""
    assert python.claims("a/setup.py")
    assert not python.claims("a.pyi")


# --- requirements -----------------------------------------------------------------------------------------------------


def test_setup():
    """Lists, names set above, f-strings, formats and sums; extras and conditions tell the platform."""
    text = f'''"""See https://github.com/x/z/blob/{SHA}/setup.py, or pip install git+https://github.com/x/z"""
import os
from setuptools import setup
REV = "{SHA}"
BASE = "git+https://github.com/x/"
requires = ["numpy", f"a @ {{BASE}}a.git@{{REV}}"]
requires += ["b @ git+https://github.com/x/b@{{}}".format("v1.0"),
             "c @ git+https://github.com/x/c@%s" % "v2.0"]
if os.environ.get("USE_ROCM"):
    requires.append("d @ git+https://github.com/x/d"
                    "@rocm-6")
extras = {{}}
extras["npu"] = ["e @ https://github.com/x/e/archive/{OTHER}.zip"]
setup(url="https://github.com/x/self", install_requires=requires, extras_require={{**extras,
      "cpu": """
        f @ git+https://github.com/x/f@v3.0
        numpy""".splitlines()}})
'''
    assert [
        f"4 x/a@{SHA}",
        "7 x/b@v1.0",
        "8 x/c@v2.0",
        "11 x/d@rocm-6 rocm",
        f"13 x/e@{OTHER} npu",
        "16 x/f@v3.0 cpu",
    ] == told(text, "setup.py")


def test_prose():
    """What people read is no requirement, and neither is an address that nothing installs."""
    text = """\
'''git+https://github.com/x/a@v1'''
import sys
URL = "https://github.com/x/a.git"
HINT = "run pip install git+https://github.com/x/a@v1 first"
print("git+https://github.com/x/a@v1")
parser.add_argument("--x", help="git+https://github.com/x/a@v1")
if len(sys.argv) == 9:
    raise ImportError("git+https://github.com/x/a@v1")
logger.warning("git clone https://github.com/x/a")
assert source == "git+https://github.com/x/a@v1"
"""
    assert [] == told(text)


def test_a_requirement_anywhere():
    """A string that is a requirement and nothing else is one, also where a longer address is put together from it."""
    text = """\
BASE = "git+https://github.com/x/a"
spec = Config(install=("git+https://github.com/x/b.git"
                       "@v1"), other=BASE + "@" + "v2")
image = Image.slim().pip_install("git+https://github.com/x/c@v3").run_commands("git clone -b v4 https://github.com/x/d")
"""
    assert ["3 x/a@v2", "3 x/b@v1", "4 x/c@v3", "4 x/d@v4"] == told(text)


def test_tests():
    """The data of tests is none, the commands that they start are."""
    text = 'A = "git+https://github.com/x/a@v1"\nsubprocess.run("git clone -b v2 https://github.com/x/b", shell=True)\n'
    assert ["2 x/b@v2"] == told(text, "tests/test_a.py")


def test_inline_metadata():
    """The dependencies of a script stand in a comment of TOML."""
    text = (
        "# /// script\n"
        '# dependencies = ["a"]\n'
        "# [tool.uv.sources]\n"
        f'# a = {{ git = "https://github.com/x/a", rev = "{SHA}" }}\n'
        "# ///\n"
        "print()\n"
    )
    assert [f"4 x/a@{SHA}"] == told(text, "run.py")


# --- commands ---------------------------------------------------------------------------------------------------------


def test_clone_and_checkout():
    """Lists of words go through the program's own functions; a folder holds its clone; a default counts."""
    text = f"""\
import os, subprocess, sys
URL = "https://github.com/x/a.git"
FOLDER = os.path.join("/tmp", "a")
REF = os.environ.get("A_REF", "v1.x")
def run(words, cwd=".", env=None):
    print(f"running {{' '.join(words)}} in {{cwd}}")
    subprocess.check_call(words, cwd=cwd, env=env)
def main():
    if not os.path.exists(FOLDER):
        run(["git", "clone", URL, FOLDER])
    run(["git", "checkout", REF], cwd=os.path.abspath(FOLDER))
    run([sys.executable, "-m", "pip", "install", "git+https://github.com/x/b@v2"])
    os.system("git clone https://github.com/x/c && cd c && git reset --hard {SHA}")
    subprocess.run("git clone https://github.com/x/d".split())
"""
    assert ["4 x/a@v1.x", "12 x/b@v2", f"13 x/c@{SHA}", "14 x/d@default-branch"] == told(text)


def test_a_session_of_words():
    """Words may be arguments of their own."""
    text = (
        "def test(session):\n"
        '    session.install("git+https://github.com/x/a@v1")\n'
        '    session.run("git", "clone", "-b", "v2", "https://github.com/x/b")\n'
    )
    assert ["2 x/a@v1", "3 x/b@v2"] == told(text, "noxfile.py")


def test_a_pin_file():
    """A ref that is read from a file of the checkout stands there, whichever function reads it."""
    text = """\
from pathlib import Path
from subprocess import check_call
root = Path(__file__).resolve().parent.parent
def read(path: Path) -> str:
    with path.open() as f:
        return f.read().strip()
def pin(name="a.txt"):
    return read(root / "ci" / "pins" / name)
def clone(repo, ref):
    check_call(["git", "clone", "--branch", ref, repo])
def main():
    clone("https://github.com/x/a", pin())
    clone("https://github.com/x/b", (root / "b_pin.txt").read_text().strip())
"""
    files = {"ci/pins/a.txt": "v1.0\n", "b_pin.txt": f"{SHA}\n"}
    assert ["b_pin.txt:1 x/b@" + SHA, "ci/pins/a.txt:1 x/a@v1.0"] == told(text, files=files)


def test_another_module():
    """A function that is imported from the checkout is followed into its file; GitPython is git."""
    helper = """\
from git import Repo
from pathlib import Path
def fetch(target, repo, dst=""):
    r = Repo.clone_from(repo, dst or target)
    r.git.checkout(Path("pins") / f"{target}.txt" and pinned(target))
def pinned(name, folder="pins"):
    return (Path(folder) / f"{name}.txt").read_text().strip()
"""
    text = 'from lib.git_helper import fetch\nclass A:\n    def go(self):\n        fetch(target="a", repo="https://github.com/x/a.git")\n'
    files = {"ci/lib/git_helper.py": helper, "pins/a.txt": f"{SHA}\n"}
    assert [f"pins/a.txt:1 x/a@{SHA}"] == told(text, "ci/core/a.py", files=files)


def test_tables_and_loops():
    """Dictionaries, tuples, dataclasses and JSON files that loops go through."""
    text = f"""\
import json, subprocess
from dataclasses import dataclass
for name, (url, ref) in {{"a": ("https://github.com/x/a.git", "v1.0"),
                         "b": ("https://github.com/x/b.git", "{SHA}")}}.items():
    subprocess.run(f"git clone {{url}} deps/{{name}} && cd deps/{{name}} && git checkout {{ref}}", shell=True)
@dataclass
class Dep:
    name: str
    url: str
    ref: str = "main"
for dep in [Dep("c", "https://github.com/x/c", "abc1234"), Dep(name="d", url="https://github.com/x/d")]:
    subprocess.check_call(["git", "clone", dep.url, dep.name])
    subprocess.check_call(["git", "-C", dep.name, "checkout", dep.ref])
with open("deps.json") as f:
    for name, dep in json.load(f).items():
        subprocess.run(["git", "clone", "-b", dep["tag"], dep["url"]])
OWN = [{{"repo": "https://github.com/x/e.git", "commit": "{OTHER}"}}]
"""
    files = {"tools/deps.json": '{"f": {"url": "https://github.com/x/f",\n"tag": "v2"}}'}
    assert [
        "3 x/a@v1.0",
        f"4 x/b@{SHA}",
        "10 x/d@main",
        "11 x/c@abc1234",
        f"17 x/e@{OTHER}",
        "tools/deps.json:2 x/f@v2",
    ] == sorted(told(text, files=files), key=lambda one: (":" in one, len(one.split()[0]), one))


def test_options():
    """The default of a command-line option is its value."""
    text = """\
import argparse, subprocess
def main(args):
    subprocess.run(["git", "clone", "--branch", args.a_ref, "https://github.com/x/a"])
def get(ref: str = typer.Option("v2.0", help="the ref")):
    subprocess.run(["git", "clone", "--branch", ref, "https://github.com/x/b"])
parser = argparse.ArgumentParser()
parser.add_argument("--a-ref", default="v1.0")
main(parser.parse_args())
"""
    assert ["4 x/b@v2.0", "7 x/a@v1.0"] == told(text)


def test_unknown():
    """A ref that nothing in the checkout tells is unresolved at its command; an unknown repository is nothing."""
    text = """\
import os, subprocess
def get(url, ref):
    subprocess.run(["git", "clone", "-b", ref, url])
subprocess.run(["git", "clone", "-b", os.environ["REF"], "https://github.com/x/a"])
"""
    assert ["4 x/a@unresolved"] == told(text)


def test_branches():
    """Each arm of a condition has its own ref, and its condition tells the platform."""
    text = """\
import subprocess
if is_rocm():
    url, ref = "https://github.com/x/a", "v1-rocm"
else:
    url, ref = "https://github.com/y/a", "v2"
subprocess.run(["git", "clone", "-b", ref, url])
"""
    assert ["3 x/a@v1-rocm rocm", "5 y/a@v2"] == told(text)


def test_build_arguments():
    """A dictionary of build arguments overrides the defaults of the Dockerfile beside it."""
    dockerfile = "FROM x\nARG A_COMMIT=main\nRUN git clone https://github.com/x/a && cd a && git checkout $A_COMMIT\n"
    text = f"""\
VARIANTS = {{
    "cu13": {{"build_args": {{}}}},
    "rocm7": {{
        "build_args": {{
            "GPU_ARCH": "gfx942",
            "A_COMMIT": "{SHA}",
        }},
        "dockerfile": "docker/Dockerfile",
    }},
}}
"""
    files = {"docker/Dockerfile": dockerfile}
    assert [f"6 x/a@{SHA} rocm over docker/Dockerfile:2"] == told(text, "docker/build.py", files=files)


def test_branch_and_commit_of_a_clone():
    """The branch of a clone that a later checkout replaces is a remark."""
    text = (
        "import subprocess\n"
        'subprocess.run(["git", "clone", "-b", "main", "https://github.com/x/a"])\n'
        f'subprocess.run(["git", "checkout", "{SHA}"], cwd="a")\n'
    )
    (pin,) = pins(python, "a.py", text)
    assert (3, SHA, "main") == (pin.line, pin.ref, pin.branch)


# --- what goes wrong --------------------------------------------------------------------------------------------------


def test_a_broken_one():
    """The mistake has its line; the statements before it are read."""
    text = 'import subprocess\nsubprocess.run(["git", "clone", "https://github.com/x/a"])\ndef broken(:\n    pass\n'
    assert [3] == broken(python, "a.py", text)
    assert ["2 x/a@default-branch"] == told(text)


@pytest.mark.parametrize(
    "body",
    [
        "def f(x):\n    return f(f(x)) + f(x + 'a')\nf('a')",
        "x = 'a'\nwhile True:\n    x += x\n",
        "x = " + "(" * 80 + "1" + ")" * 80,
        "x = " + "+".join(["'a'"] * 3000),
        "x = [[y for y in range(9)] for z in x]\n" * 200,
        "for a in [1]*400:\n  for b in [1]*400:\n    for c in [1]*400:\n      run(['git', 'clone', a])",
        "class A:\n    def __init__(self):\n        self.a = A()\n        self.a.b = self\nA().a.a",
        "d = {}\nd['d'] = d\nfor k, v in d.items():\n    print(v['d'])",
        "import a.b as c\nfrom . import d\nfrom .. import *\nc.x(d.y)",
        "lambda: (yield)\nmatch x:\n    case {'a': b, **c}:\n        run(b)\n    case _:\n        pass",
        "'%(a)s %s %' % {'a': 1}\n'{0}{}{a}{b.c[d]}{:>{w}}'.format(1)\n'{'.format()\n'%s' % ()",
        "(a := 'b')\nasync def f():\n    g()\n    async with h() as i:\n        a\n    async for j in k:\n        a",
    ],
)
def test_no_program_is_too_much(body):
    """Whatever a program does, reading it ends."""
    list(told(f'X = "git+https://github.com/x/a@v1"\n{body}\n'))


WORDS = [
    *(
        '"git"',
        '"clone"',
        '"https://github.com/x/a"',
        "subprocess.run(",
        "os.system(",
        ")",
        "[",
        "]",
        "{",
        "}",
        ",",
        ":",
        "\n",
    ),
    *(
        "    ",
        "def f(x='a'):\n",
        "return ",
        "if x:\n",
        "else:\n",
        "for x in ",
        "x",
        " = ",
        "+",
        "%",
        "/",
        ".",
        "f",
        "f'{x}'",
        "'a'",
    ),
    *(
        "import a",
        "from b import c",
        "class A:\n",
        "self.x",
        "with open(x) as y:\n",
        ".format(",
        ".join(",
        "*",
        "**",
        "lambda: ",
        "#",
    ),
]


@settings(max_examples=150)
@given(st.lists(st.sampled_from(WORDS) | st.text(max_size=4), max_size=50).map("".join))
def test_any_text(text):
    """No text makes it raise."""
    list(told('X = "git+https://github.com/x/a@v1"\n' + text))


def test_one_question_asked_twice():
    """Functions that ask the same of the same option agree; an option that may be given has its default."""
    text = f"""\
import argparse
from subprocess import check_call
def rev(kind):
    name = "{SHA}"
    if kind == "xpu":
        name = "{OTHER}"
    return name
def build(kind, commit):
    repo = "https://github.com/x/a"
    if kind == "xpu":
        repo = "https://github.com/y/a"
    else:
        repo = "https://github.com/x/a"
    check_call(["git", "clone", repo, "a"])
    check_call(["git", "checkout", commit], cwd="a")
parser = argparse.ArgumentParser()
parser.add_argument("--kind", default="cuda")
parser.add_argument("--commit")
args = parser.parse_args()
build(args.kind, args.commit if args.commit else rev(args.kind))
"""
    assert [f"4 x/a@{SHA}", f"6 y/a@{OTHER} xpu"] == told(text)


def test_a_program_that_is_too_much_for_the_parser():
    """Python's own parser cannot be interrupted: what would take it seconds is told, and left out."""
    text = "import os\nos.system('git clone https://github.com/x/a')\n" + "x\n" * 200_000
    assert ["expected less nesting, or a smaller file"] == [
        it.reason for it in python.parse("a.py", text, Checkout()) if isinstance(it, Broken)
    ]
