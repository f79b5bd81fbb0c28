"""A long run of the real service over many made-up upstreams, compared with what the script says."""
