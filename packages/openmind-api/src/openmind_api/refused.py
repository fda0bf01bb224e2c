"""An exception that carries a refusal out of a route."""

from openmind_api.problems import Refusal


class Refused(Exception):
    """The request is answered with a refusal."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.detail)
        self.refusal = refusal
