"""What a format sees in a few files, as short lines that tests can compare."""

from hypothesis import strategies as st

from watcher.pins.checkout import Checkout
from watcher.pins.format import Broken
from watcher.pins.merge import merged

WORDS = (
    "git clone https://github.com/a/b.git\n", "git checkout ", "$", "${X}", "$(X)", "${{ env.X }}", "{{ x }}",
    "%X%", ": ", "- ", "\n", "  ", "\t", '"', "'", "{", "}", "[", "]", "(", ")", "run: |\n", "uses: a/b@v1\n",
    "with:\n", "steps:\n", "jobs:\n", "X = v1.2\n", "define x\n", "endef\n", "ifeq (a,b)\n", "endif\n",
    "else\n", 'target "a" {\n', "args = {", 'source = "git::https://h/a/b?ref=v1"\n',
    "docker build --build-arg X=v1 .\n", "&x ", "*x", "<<: ", "# watcher: upstream=https://github.com/a/b\n",
    "\\\n", "^\n", "`\n", "sh '", "FROM a\nARG X=v1\n", "set X=v1\n", "if ", "1" * 40, "\x00", "\ue000", "é",
    "repo: https://github.com/a/b\n", "rev: v1\n", "#",
)  # fmt: skip
"""Pieces that formats care about; any order of them is some broken file."""
garbled = st.lists(st.sampled_from(WORDS) | st.text(max_size=6), max_size=60).map("".join)


def seen(fmt, path, text, files=None):
    """Return `file:line owner/name@ref` of each pin that a format finds in a file, in order."""
    return [told(pin) for pin in pins(fmt, path, text, files)]


def pins(fmt, path, text, files=None):
    """Return the pins that a format finds in a file; `files` are further ones of the checkout."""
    texts = {path: text, **(files or {})}
    found = list(fmt.parse(path, text, Checkout(texts=texts)))
    return merged(one for one in found if not isinstance(one, Broken))


def broken(fmt, path, text):
    """Return the lines that a format could not read."""
    return [one.line for one in fmt.parse(path, text, Checkout(texts={path: text})) if isinstance(one, Broken)]


def told(pin):
    """Write a pin on one line."""
    name = "/".join((pin.upstream or "?").split("/")[-2:])
    variant = f" {pin.variant}" if pin.variant != "any" else ""
    over = f" over {pin.overrides}" if pin.overrides else ""
    return f"{pin.file}:{pin.line} {name}@{pin.ref or pin.ref_kind.value}{variant}{over}"
