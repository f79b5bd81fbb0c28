"""What goes wrong in the world, done on purpose, and what came of it."""
