"""Indexing in the background."""
