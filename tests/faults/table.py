"""Every trial that there is: those of each module beside this one that has any."""

from collections.abc import Sequence
from importlib import import_module
from pkgutil import iter_modules

import tests.faults
from tests.faults.trial import Trial


def trials() -> Sequence[Trial]:
    """Return them, module by module."""
    names = sorted(it.name for it in iter_modules(tests.faults.__path__) if not it.name.startswith(("test_", "run")))
    return [trial for name in names for trial in getattr(import_module(f"tests.faults.{name}"), "TRIALS", ())]
