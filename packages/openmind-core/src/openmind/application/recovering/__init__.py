"""What is put right at the start of a run, and what leaves the disk at its end."""
