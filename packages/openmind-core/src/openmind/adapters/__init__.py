"""Light adapters that need nothing beyond the standard library and core's own dependencies."""
