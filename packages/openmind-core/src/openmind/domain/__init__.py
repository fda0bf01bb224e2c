"""Values, pure functions and errors: what OpenMind is about, without any I/O."""
