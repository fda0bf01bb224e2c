"""OpenMind's readers of files: text, Markdown, PDF, OCR, DOCX, HTML, tables and images."""
