"""A piece of made-up code with a bug, and its repair, for stories about fixes."""

BROKEN = """\
#include "engine.h"

int engine_close(Engine *engine) {
    Buffer *buffer = engine->buffer;
    flush_pages(buffer->first, buffer->count);
    give_back(buffer->pages);
    engine->buffer = NULL;
    return 0;
}
"""
REPAIRED = BROKEN.replace(
    "    give_back(buffer->pages);\n", "    if (buffer->owned)\n        give_back_once(buffer);\n"
)
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
