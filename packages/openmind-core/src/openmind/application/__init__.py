"""Use cases, one service per module: ports in fields, verbs in order."""
