"""What strangers can write, and that it stays what it is: text, a value, a warning, one clear line."""
