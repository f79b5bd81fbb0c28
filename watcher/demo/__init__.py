"""A made-up upstream, served over real smart HTTP on loopback, and the story that is played on it."""
