"""Verdicts as functions of values: reachability, fixes, affected, bump, drift."""
