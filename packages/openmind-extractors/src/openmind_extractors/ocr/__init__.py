"""Reading text from pictures of pages."""
