"""The promises of the port to the catalog, one module for each kind of thing it knows."""
