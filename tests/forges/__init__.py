"""Tests of asking forges."""
