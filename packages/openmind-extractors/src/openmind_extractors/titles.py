"""Titles that programs put into documents, and titles that people gave them."""

import re

from openmind_extractors.limits import MAX_HEADING_CHARS

_MADE_BY_PROGRAMS = re.compile(
    r"(microsoft (word|powerpoint|excel) - .*|untitled.*|(word|powerpoint)[- ]pr[äe]sentation|powerpoint presentation"
    r"|(document|dokument|presentation|slide|folie) ?\d*|title|titel"
    r"|.*\.(docx?|pptx?|xlsx?|pdf|dvi|tex|indd|odt|rtf|qxd))",
    re.IGNORECASE,
)


def sensible_title(title: str) -> str:
    """Return the title a document carries, or nothing when a program made it up."""
    title = " ".join(title.split())[:MAX_HEADING_CHARS]
    return "" if _MADE_BY_PROGRAMS.fullmatch(title) or not any(char.isalnum() for char in title) else title
