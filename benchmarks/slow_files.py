"""Tell which files take longest to read, in checkouts and among texts that are made to be slow.

    python benchmarks/slow_files.py [FOLDER ...] [--above SECONDS]

All formats that claim a file read it once; printed are the seconds of processor time of those that take more than
SECONDS (0.2), slowest first, and for each folder what finding and reading the files took, and following them. Without
a folder the made-up texts are read. A file that a scan would give up is marked; there should be none in real checkouts.
"""

import argparse
import os
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from watcher.downstreams import local
from watcher.pins import FORMATS, Checkout, discover
from watcher.pins.limit import within

CLONE = "git clone https://github.com/acme/ops\n"
FETCH = "FetchContent_Declare(a GIT_REPOSITORY https://github.com/acme/ops GIT_TAG v1)\n"
LIMIT = 1.0
MADE_UP: Mapping[str, tuple[str, str]] = {
    "a variable that doubles": ("a.sh", "A=x\n" + "A=$A$A\n" * 5_000 + CLONE),
    "quotes without an end": ("a.sh", CLONE + 'X="' * 300_000),
    "one line of variables": ("a.sh", CLONE + "echo " + "$a" * 2_000_000),
    "loops in loops": ("a.sh", "for i in a b c d e f g h; do\n" * 12 + CLONE + "done\n" * 12),
    "branches over many variables": (
        "a.sh",
        "".join(f"V{n}=a\n" for n in range(3_000)) + "if x; then Z=1; fi\n" * 3_000 + CLONE,
    ),
    "heredocs without an end": ("Dockerfile", "FROM a\nRUN " + CLONE + "RUN <<E\n" * 50_000),
    "many instructions": ("Dockerfile", "FROM a\n" + f"RUN {CLONE}" * 90_000),
    "ifs in ifs": ("CMakeLists.txt", FETCH + "if(A)\n" * 30_000 + "endif()\n" * 30_000),
    "lists that grow": ("CMakeLists.txt", "list(APPEND A ${A} x y)\n" * 5_000 + FETCH),
    "many branches": (
        "CMakeLists.txt",
        FETCH + "".join(f"if(A{n})\nlist(APPEND S {n} ${{S}})\nendif()\n" for n in range(3_000)),
    ),
    "aliases of aliases": (
        "ci.yml",
        "script: git clone x\na0: &a0 [x, x]\n"
        + "".join(f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]\n" for n in range(1, 2_000)),
    ),
    "a matrix of six axes": (
        ".github/workflows/a.yml",
        "jobs:\n a:\n  strategy:\n   matrix:\n"
        + "".join(f"    x{axis}: [{', '.join(f'v{n}.{axis}' for n in range(20))}]\n" for axis in range(6))
        + "  steps:\n  - run: git clone https://github.com/a/b -b "
        + "-".join(f"${{{{ matrix.x{axis} }}}}" for axis in range(6))
        + "\n",
    ),
    "calls that double": (
        "Makefile",
        "".join(f"f{n} = $(call f{n + 1},$1a)$(call f{n + 1},$1b)\n" for n in range(40))
        + f"x:\n\t{CLONE.strip()} -b $(call f0,x)\n",
    ),
    "interpolations without an end": (
        "a.nix",
        'fetchgit { url = "https://github.com/acme/ops"; rev = ' + '"${' * 200_000,
    ),
    "very many versions": (
        "package.py",
        "class A(Package):\n  git = 'https://github.com/acme/ops'\n"
        + f"  version('1', commit='{'a1' * 20}')\n" * 20_000,
    ),
    "functions that double": (
        "setup.py",
        "".join(f"def f{n}(x):\n  f{n + 1}(x + 'a')\n  f{n + 1}(x + 'b')\n" for n in range(60))
        + "f0('git clone https://github.com/a/b')\n",
    ),
    "lines that go on": ("a.bb", 'SRC_URI = "git://github.com/acme/ops \\\n' * 100_000),
    "large requirements": ("requirements.txt", "a @ git+https://github.com/acme/ops@v1\n" * 100_000),
}
"""What is slow about a text → its path and content."""


def readings(checkout: Checkout) -> Iterator[tuple[float, str, bool]]:
    """Yield, for each file, the seconds it took, which it is and who reads it, and whether a scan gives it up."""
    claimed = {path: [name for name, fmt in FORMATS.items() if fmt.claims(path)] for path in sorted(checkout.texts)}
    paths = [path for path, names in claimed.items() if names]

    def taken(path: str) -> float:
        start = time.process_time()
        for name in claimed[path]:
            list(FORMATS[name].parse(path, checkout.texts[path], checkout))
        return time.process_time() - start

    for path, seconds in within(LIMIT, taken, paths):
        what = f"{path} ({', '.join(claimed[path])})"
        yield seconds if seconds is not None else LIMIT, what, seconds is None


def spent() -> float:
    """Return the seconds of processor time that this process and its children took so far."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def shown(seconds: float, what: str, *, is_given_up: bool) -> str:
    """Return one line of the result."""
    return f"{seconds:8.2f}  {what}{'  (given up)' if is_given_up else ''}"


def main() -> None:
    """Print what is slow."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="*", type=Path, metavar="FOLDER")
    parser.add_argument("--above", type=float, default=0.2, metavar="SECONDS")
    options = parser.parse_args()
    slow: list[tuple[float, str, bool]] = []
    for folder in options.folders:
        start = spent()
        checkout = local(folder)
        middle = spent()
        discover(checkout)
        end = spent()
        print(shown(middle - start, f"{folder}: finding and reading {len(checkout.texts)} files", is_given_up=False))
        print(shown(end - middle, f"{folder}: following them", is_given_up=False))
        slow += readings(local(folder))
    if not options.folders:
        for what, (path, text) in MADE_UP.items():
            slow += ((took, f"{name}: {what}", is_cut) for took, name, is_cut in readings(Checkout(texts={path: text})))
    for seconds, what, is_given_up in sorted(slow, reverse=True):
        if seconds >= options.above:
            print(shown(seconds, what, is_given_up=is_given_up))


if __name__ == "__main__":
    main()
