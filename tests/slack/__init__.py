"""Slack: its own schema of messages, and clicks on their buttons."""
