"""Trouble with a provider: told to the person, and remembered until the end of the run."""

from attrs import define

from openmind.application.indexing.run_log import RunLog
from openmind.domain.errors import (
    OpenMindError,
    ProviderBroken,
    ProviderError,
    ProviderUnauthorized,
    ProviderUnreachable,
)
from openmind.domain.files import FileRecord
from openmind.domain.paths import displayable
from openmind.domain.refused_passages import RefusedPassages
from openmind.domain.sentences import as_sentence

_WITH_NEXT = "with the next `openmind index`"
AFTER_MENDING = "with the first `openmind index` after that is mended"
_FOR_A_PERSON = (ProviderBroken, ProviderUnauthorized)
"""What no waiting mends: a process keeps the code and the environment that it was started with."""


def _says_what_mends(error: OpenMindError) -> bool:
    """Whether a provider failed in a way that is not over by itself, and says what ends it."""
    return isinstance(error, ProviderBroken) or (type(error) is ProviderError and bool(error.hint))


@define
class ProviderTrouble:
    """What providers could not do in a run. Serves one thread."""

    log: RunLog
    first: str = ""
    """The first failure that may be over soon; a background job waits for that."""
    needs_person: bool = False
    """Whether that cannot be over before a person does something."""

    def _when(self, error: OpenMindError) -> str:
        """A background job waits for its provider; a run in the foreground ends without it."""
        if isinstance(error, _FOR_A_PERSON) or not self.log.run.job_id:
            return AFTER_MENDING if _says_what_mends(error) else _WITH_NEXT
        return "once it answers again"

    def chosen_otherwise(self, sentence: str, failed: ProviderError | None) -> None:
        """Hear that the run does not go as configured, and which error of the chosen embedder is to blame."""
        self._remember(sentence, failed)
        self.log.notice(sentence)

    def lost_embedder(self, error: ProviderError) -> None:
        """Hear that vectors could not be made; passages go live without them."""
        told = f"What was read is found by its words; vectors follow {self._when(error)}."
        self._remember(error.message, error)
        self.log.notice(f"{as_sentence(error.message)} {told}")

    def refused_passages(self, file: FileRecord, refused: RefusedPassages) -> None:
        """Hear that the embedder cannot take some passages of a file."""
        self.log.notice(f"{displayable(file.path_bytes)}: {as_sentence(refused.sentence)}")

    def lost_describer(self, error: OpenMindError) -> None:
        """Hear that no more pictures can be described."""
        told = f"Pictures are found by what is written on them; descriptions follow {self._when(error)}."
        if isinstance(error, ProviderUnreachable):  # it may be back soon
            self._remember(error.message, error)
        self.log.notice(f"{as_sentence(error.message)} {told}")

    def _remember(self, sentence: str, error: OpenMindError | None) -> None:
        if self.first:
            return
        told = error.message if isinstance(error, ProviderUnauthorized) else sentence
        self.needs_person = isinstance(error, _FOR_A_PERSON)
        hint = error.hint if error is not None and error.hint not in told else ""
        self.first = f"{as_sentence(told)} {hint}" if hint else told
