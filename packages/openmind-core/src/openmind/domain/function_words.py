"""Function words: what holds sentences together and says nothing about what they are about."""

# `who` is left out: it is also a band and an organisation.
ENGLISH = frozenset(
    """
    a an and are as at be been but by can could did do does for from had has have he her his how i if in into is it its
    me my no not of on or our she should so such than that the their them then there these they this those to was we
    were what when where which will with would you your
    """.split()  # noqa: SIM905  as a list it would fill two screens
)

UNMARKED = ENGLISH | frozenset(
    """
    das dem den der des die ein eine einen einer eines im ist mit nicht oder und von wie zu zum zur
    au aux ce ces dans de du elle en est et il la le les l d ne ou par pas pour qu que qui sur un une
    del el los las por con se al lo su
    """.split()  # noqa: SIM905
)
"""What is not marked in a snippet. Some are telling words of another language, so they are searched for."""
