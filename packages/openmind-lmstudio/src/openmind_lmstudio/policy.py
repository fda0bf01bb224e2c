"""How long each request may take, and when it is sent again."""

from attrs import frozen
from openmind.domain.errors import ProviderError, ProviderUnreachable

from openmind_lmstudio.errors import ConnectionLost, ServerFailed


@frozen(kw_only=True)
class Patience:
    """What one kind of request is allowed."""

    read_s: float
    pauses_s: tuple[float, ...] = ()
    """Waits before each further attempt, after a failure of the connection or of the server."""
    only_unsent: bool = False
    """Whether it is sent again only when there was no connection: what arrived may be under way."""

    def repeats_after(self, error: ProviderError) -> bool:
        """Whether another attempt may help, and does no harm."""
        if isinstance(error, ConnectionLost | ServerFailed):
            return not self.only_unsent
        return isinstance(error, ProviderUnreachable)


SILENT_LIST_S = 5.0
"""How long a list of models may take. It takes no model, so a server that says nothing by then is stuck, or none."""
LIST = Patience(read_s=SILENT_LIST_S, pauses_s=(0.1, 0.3))
LOAD = Patience(read_s=600)
"""Large models take minutes; a second attempt would load a second instance."""
UNLOAD = Patience(read_s=30, pauses_s=(0.5,))
EMBED = Patience(read_s=120, pauses_s=(0.25, 1.0))
EMBED_FIRST = Patience(read_s=600, pauses_s=(0.25, 1.0))
"""The server may load the model on the way."""
CHAT = Patience(read_s=600, pauses_s=(0.3,), only_unsent=True)
DESCRIBE = CHAT
STREAM = CHAT
"""Until the first piece of an answer: the model may have to be loaded and the prompt be read."""

BETWEEN_EVENTS_S = 60.0
"""Longest silence of a stream once the answer began."""
