"""What the sweep of sizes is made of: upstreams by script, a server that answers for them, and the drawings."""
