"""Tests of `watcher/judge`."""
