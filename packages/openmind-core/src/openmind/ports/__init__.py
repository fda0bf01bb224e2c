"""Protocols: each names a place where bytes leave the process, and what is promised there."""
