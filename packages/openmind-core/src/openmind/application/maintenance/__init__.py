"""What keeps a memory sound, and what takes it elsewhere."""
