"""Who looks at upstreams? Threads of this process, or workers of dask.distributed on many machines: one interface.

Whoever asks need not know which. Workers return small values and may vanish at any moment; where they cannot be had,
the threads do what is left.
"""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager

from watcher.config import Settings
from watcher.opinions import Asking
from watcher.workers.threads import ABOUT, AT_ONCE, Poll, Threads, Workers, news_here

__all__ = ["ABOUT", "AT_ONCE", "Poll", "Threads", "Workers", "news_here", "workers"]


@contextmanager
def workers(settings: Settings, asking: Asking | None) -> Iterator[Workers]:
    """Give those who look at upstreams, as configured; `asking` is how this process asks forges."""
    with ThreadPoolExecutor(max_workers=AT_ONCE) as pool:
        here = Threads(pool=pool, asking=asking)
        if settings.executor.dask is None:
            yield here
            return
        # Its library takes a second to import, and is an extra.
        from watcher.workers.cluster import employed  # noqa: PLC0415

        with closing(employed(settings, here)) as crew:
            yield crew
