"""English endings, as far as marking needs them: which words are forms of one another.

The index stems by itself and decides what is found. This only has to see the same in a text that was found.
"""

_INFLECTED = ("s", "es", "ed", "e", "ing", "ings", "er", "ers", "or", "ors", "ly", "edly", "ingly")
_DERIVED = (
    "ion", "ions", "ation", "ations", "ational", "al", "ally", "ment", "ments", "ness", "ive", "ic", "ical", "ance",
    "ence", "able", "ize", "izes", "ized", "izing", "ization", "ity",
)  # fmt: skip
_DOUBLED = frozenset({"ed", "ing", "er", "ers"})
_MIN_INFLECTED, _MIN_DERIVED = 3, 5


def forms(word: str) -> set[str]:
    """Return the word and the stems it may have. Two words are forms of one when they share any."""
    found = {word}
    if len(word) <= _MIN_INFLECTED or not (word.isascii() and word.isalpha()):
        return found
    for ending in _INFLECTED:
        stem = word[: -len(ending)]
        if word.endswith(ending) and len(stem) >= _MIN_INFLECTED:
            found.add(stem)
            if ending in _DOUBLED and stem[-1] == stem[-2]:
                found.add(stem[:-1])
    for ending in _DERIVED:
        if word.endswith(ending) and len(word) - len(ending) >= _MIN_DERIVED:
            found.add(word[: -len(ending)])
    if word.endswith(("ies", "ied")):
        found.add(word[:-3] + "y")
    return found
