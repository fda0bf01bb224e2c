"""A run over the sources: from what changed to what can be found."""
