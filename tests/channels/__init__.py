"""Channels, held against real servers on loopback."""
