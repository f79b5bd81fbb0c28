"""What benchmarks share: repositories made by script, servers on loopback, and how the cost of a client is measured."""
