"""One suite per port: subclass it in an adapter's tests and every promise of the port is checked."""
