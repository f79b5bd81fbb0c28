"""Look at upstreams: their refs, their history, the commits we keep."""
