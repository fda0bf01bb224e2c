"""OpenMind's storage: a SQLite catalog beside LanceDB tables."""
