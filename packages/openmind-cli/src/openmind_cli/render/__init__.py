"""How things look: to a person at a terminal, to `grep` through a pipe, and as JSON."""
