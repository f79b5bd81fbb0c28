"""Turn what a pass found into text: table, JSON, markdown."""
