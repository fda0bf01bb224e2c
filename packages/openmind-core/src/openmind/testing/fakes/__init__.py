"""Fakes of the ports: small, in memory, and held to the same contracts as the real ones."""
