"""The chunk store: LanceDB tables, read and written through `lance`, the native binding of their format."""
