"""Tests of `watcher/store`."""
