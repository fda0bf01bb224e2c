"""OpenMind's loopback HTTP API."""
