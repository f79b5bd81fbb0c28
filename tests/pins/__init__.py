"""Tests of pin discovery."""
