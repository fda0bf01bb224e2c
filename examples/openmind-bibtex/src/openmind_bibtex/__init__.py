"""Lets OpenMind read .bib files."""
