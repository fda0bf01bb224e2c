"""Brings models of Letters to OpenMind."""
