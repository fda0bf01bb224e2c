"""Looks at a plugin's hooks before they are called, so that a slip of the pen is told with the right spelling."""

import inspect
from typing import Final

from openmind.domain.errors import PluginError
from openmind.plugins import hookspecs

MARK: Final = f"{hookspecs.GROUP}_impl"
"""The attribute that `@hookimpl` leaves on a function."""
ARGUMENT: Final = "registry"
HOOKS: Final = tuple(name for name, value in vars(hookspecs).items() if hasattr(value, f"{hookspecs.GROUP}_spec"))
LAZY: Final = (inspect.iscoroutinefunction, inspect.isgeneratorfunction, inspect.isasyncgenfunction)
VERSION_NAME: Final = "OPENMIND_HOOKS"


def check_implementations(plugin: object) -> None:
    """Refuse what would be ignored or fail later.

    Args:
        plugin: the module, or the object, that an entry point names.

    Raises:
        PluginError: the plugin is for other hooks, has none, or one that is misspelt or takes something else.
    """
    wanted = getattr(plugin, VERSION_NAME, hookspecs.VERSION)
    if type(wanted) is not int:
        raise PluginError(
            f"its {VERSION_NAME} is {wanted!r} ({type(wanted).__name__}), and a whole number is meant, such as"
            f" {VERSION_NAME} = {hookspecs.VERSION}"
        )
    if wanted != hookspecs.VERSION:
        raise PluginError(
            f"it was written for version {wanted} of OpenMind's hooks, and this OpenMind has version"
            f" {hookspecs.VERSION}"
        )
    marked = []
    for name in dir(plugin):
        found = getattr(plugin, name)
        if hasattr(found, MARK):
            _check_name(name)
            _check_arguments(name, found)
            marked.append(name)
        elif name in HOOKS and inspect.isroutine(found):
            raise PluginError(f"{name} lacks its @hookimpl, so it would never be called")
    if not marked:
        raise PluginError(f"it has no hook; a plugin has at least one of {', '.join(HOOKS)}, marked @hookimpl")


def _check_name(name: str) -> None:
    if name not in HOOKS:
        import difflib  # waits until a hook is misspelt

        close = difflib.get_close_matches(name, HOOKS, n=1)
        meant = f"did you mean {close[0]}?" if close else f"there are {', '.join(HOOKS)}"
        raise PluginError(f"there is no hook {name}; {meant}")


def _check_arguments(name: str, function: object) -> None:
    assert callable(function)
    found = tuple(inspect.signature(function).parameters)
    if found != (ARGUMENT,):
        raise PluginError(f"{name} takes one argument named {ARGUMENT}, not ({', '.join(found)})")
    if any(is_kind(function) for is_kind in LAZY):
        raise PluginError(f"{name} would never run: a hook is a plain function, without async and without yield")
