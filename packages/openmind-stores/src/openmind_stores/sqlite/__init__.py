"""The catalog in SQLite."""
