"""What the catalog knows, one module for each kind of thing: SQL beside the mapper of its rows."""
