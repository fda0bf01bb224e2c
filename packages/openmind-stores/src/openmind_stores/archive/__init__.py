"""Archives: Parquet files and a manifest in a zip file."""
