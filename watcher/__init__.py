"""Watch software pinned to upstream git commits."""
