"""Run the command line, with what it starts from made light."""

import gc
import os
import sys
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from types import ModuleType


def main() -> None:
    """Run the command line; every error ends in one clear line and its exit code."""
    # Thousands of values live until the end of a pass: looking through them again and again finds nothing to free.
    gc.set_threshold(200_000, 20, 100)
    # pydantic would look through every installed package for plug-ins, which have no business here.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    # httpx would bring its own command line, with all that this needs.
    sys.modules.setdefault("httpx._main", cast("ModuleType", None))
    from watcher import cli  # noqa: PLC0415 - all of this comes before what it is for

    try:
        cli.main()
    finally:
        # Python looks through all values once more before it ends, to free what the end of the process frees anyway.
        gc.freeze()


if __name__ == "__main__":
    main()
