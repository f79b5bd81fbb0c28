"""The picture of a dependency."""
