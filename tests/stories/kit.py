"""A piece of made-up code with a bug, and its repair, for stories about fixes."""

_BROKEN = """\
#include "{part}.h"

int {part}_close(Engine *{part}) {{
    Buffer *buffer = {part}->buffer;
    flush_pages(buffer->first, buffer->count);
    give_back(buffer->pages);
    {part}->buffer = NULL;
    return 0;
}}
"""


def broken(part: str) -> str:
    """Return the code of a part with the bug."""
    return _BROKEN.format(part=part)


def repaired(part: str) -> str:
    """Return the code of a part without it."""
    bug, repair = "    give_back(buffer->pages);\n", "    if (buffer->owned)\n        give_back_once(buffer);\n"
    return broken(part).replace(bug, repair)


BROKEN, REPAIRED = broken("engine"), repaired("engine")
REPAIRED_LINE = "src/engine.c:6"
"""Where the repaired line stands in the broken file."""

SETUP = 'from setuptools import setup\n\nsetup(name="engine", version="1.4.0")\n'

FILES = {
    "A": {"src/engine.c": BROKEN, "setup.py": SETUP},
    "F": {"src/engine.c": REPAIRED},
}
"""A brings the bug, F repairs it."""
MESSAGES = {
    "A": "Run the engine",
    "F": "fix: pages are given back twice when a borrowed buffer is closed\n\nFixes #31\n",
}
STORY = {"files": FILES, "messages": MESSAGES}
