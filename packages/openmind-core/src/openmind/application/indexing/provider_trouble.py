"""Trouble with a provider: told to the person, and remembered until the end of the run."""

from attrs import define

from openmind.application.indexing.run_log import RunLog
from openmind.domain.errors import OpenMindError, ProviderError, ProviderUnreachable
from openmind.domain.files import FileRecord
from openmind.domain.paths import displayable
from openmind.domain.refused_passages import RefusedPassages
from openmind.domain.sentences import as_sentence


@define
class ProviderTrouble:
    """What providers could not do in a run. Serves one thread."""

    log: RunLog
    first: str = ""
    """The first failure that may be over soon; a background job waits for that."""

    @property
    def _when(self) -> str:
        """A background job waits for its provider; a run in the foreground ends without it."""
        return "once it answers again" if self.log.run.job_id else "with the next `openmind index`"

    def chosen_otherwise(self, sentence: str) -> None:
        """Hear that the run does not go as configured."""
        self.first = self.first or sentence
        self.log.notice(sentence)

    def lost_embedder(self, error: ProviderError) -> None:
        """Hear that vectors could not be made; passages go live without them."""
        told = f"What was read is found by its words; vectors follow {self._when}."
        self.first = self.first or error.message
        self.log.notice(f"{as_sentence(error.message)} {told}")

    def refused_passages(self, file: FileRecord, refused: RefusedPassages) -> None:
        """Hear that the embedder cannot take some passages of a file."""
        self.log.notice(f"{displayable(file.path_bytes)}: {as_sentence(refused.sentence)}")

    def lost_describer(self, error: OpenMindError) -> None:
        """Hear that no more pictures can be described."""
        told = f"Pictures are found by what is written on them; descriptions follow {self._when}."
        if isinstance(error, ProviderUnreachable):  # it may be back soon
            self.first = self.first or error.message
        self.log.notice(f"{as_sentence(error.message)} {told}")
