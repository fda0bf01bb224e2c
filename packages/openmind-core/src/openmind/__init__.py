"""OpenMind: a local memory over the folders a person approves."""
