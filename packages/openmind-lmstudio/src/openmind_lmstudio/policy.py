"""How long each request may take, and when it is sent again."""

from attrs import frozen


@frozen(kw_only=True)
class Patience:
    """What one kind of request is allowed."""

    read_s: float
    pauses_s: tuple[float, ...] = ()
    """Waits before each further attempt, after a failure of the connection or of the server."""


LIST = Patience(read_s=10, pauses_s=(0.1, 0.3))
LOAD = Patience(read_s=600)
"""Large models take minutes; a second attempt would load a second instance."""
UNLOAD = Patience(read_s=30, pauses_s=(0.5,))
EMBED = Patience(read_s=120, pauses_s=(0.25, 1.0))
EMBED_FIRST = Patience(read_s=600, pauses_s=(0.25, 1.0))
"""The server may load the model on the way."""
CHAT = Patience(read_s=600)
DESCRIBE = Patience(read_s=600)

STREAM = Patience(read_s=600, pauses_s=(0.3,))
"""Until the first piece of an answer: the model may have to be loaded and the prompt be read. Sent again only when
there was no connection."""

BETWEEN_EVENTS_S = 60.0
"""Longest silence of a stream once the answer began."""
