"""Whole stories: downstreams and upstreams as drawn histories, real git over real HTTP, several passes."""
