"""From “think or do not” to the settings that a model offers."""

from collections.abc import Collection

NO_REASONING = ("off", "none")
_LITTLE = ("minimal", "low")
"""A model that cannot be told not to think is told to think little."""
_SOME = ("on", "medium", "low", "high")


def reasoning_setting(offered: Collection[str], *, wanted: bool) -> str | None:
    """Choose a setting; None when nothing that is offered fits, which leaves it to the model."""
    return next((setting for setting in (_SOME if wanted else NO_REASONING + _LITTLE) if setting in offered), None)


def effort_setting(offered: Collection[str], effort: str) -> str | None:
    """Choose the setting for an effort: itself, or as near as the model has it."""
    return effort if effort in offered else reasoning_setting(offered, wanted=effort not in NO_REASONING)
