"""Shared fixtures. Everything is hermetic: no user git config, UTC, loopback only."""
