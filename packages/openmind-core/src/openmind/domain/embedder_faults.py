"""What an embedder may say of itself: tables are made and texts are cut by it, so it is looked at first."""

from openmind.domain.models import EmbedderIdentity, RetrievalProfile

MOST_DIMENSIONS = 32_768
"""Of a vector, 128 KiB; the largest models in use make 4,096, and a vocabulary as a vector has 30,522."""


def fault_of_identity(identity: EmbedderIdentity) -> str:
    """Say what is wrong with an identity, as a part of a sentence; empty when nothing is."""
    for name in ("provider", "model", "revision"):
        value: object = getattr(identity, name)
        if not isinstance(value, str):
            return f"the identity of the embedder has the {name} {value!r}, which is no text"[:200]
    if not identity.provider or not identity.model:
        return "the identity of the embedder lacks the name of its provider or of its model"
    for name in ("dimension", "prompt_version"):
        value = getattr(identity, name)
        if isinstance(value, bool) or not isinstance(value, int):
            return f"the identity of the embedder has the {name} {value!r}, which is no whole number"[:200]
    if not 1 <= identity.dimension <= MOST_DIMENSIONS:
        told = f"{identity.dimension:,}, and 1 to {MOST_DIMENSIONS:,} is possible"
        return f"the identity of the embedder has the dimension {told}"
    return ""


def fault_of_profile(profile: RetrievalProfile) -> str:
    """Say what is wrong with a profile, likewise."""
    for name, least in (("words_weight", 0), ("cosine_floor", -1)):
        value: object = getattr(profile, name)
        if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= 1:
            return f"the profile of the embedder has the {name} {value!r}, which is no number from {least} to 1"[:200]
    return ""


def fault_of_longest_input(chars: object) -> str:
    """Say what is wrong with the longest text that an embedder takes whole, likewise."""
    if isinstance(chars, int) and not isinstance(chars, bool) and chars >= 1:
        return ""
    return f"the longest input of the embedder is {chars!r}, which is no whole number from 1"[:200]
