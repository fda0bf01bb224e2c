"""Finds the command that was asked for and runs it."""

import importlib
from collections.abc import Callable, Coroutine, Iterable, Mapping
from contextlib import nullcontext
from importlib.metadata import version
from typing import cast

from cyclopts import App, CycloptsError, RepeatArgumentError, UnknownOptionError, UnusedCliTokensError
from openmind.application.lookout import Lookout, Wait, shared_lookout
from openmind.domain.errors import OpenMindError, PluginError, UsageError
from openmind.domain.foreign_errors import named as named_error
from openmind.domain.foreign_errors import words_of
from openmind.domain.plugins import OURS, plugin_of
from openmind.installed import installed_plugins
from openmind.plugins.registries import CommandEntry, Registered

from openmind_cli.commands import COMMANDS
from openmind_cli.exit_codes import OK

MOST_EXIT_CODE = 255
"""The system has no room for more."""
OWN = frozenset(name for name, _, _ in COMMANDS)
Strangers = Mapping[str, Registered[CommandEntry]]
"""The commands of other packages, by name."""


def plugin_commands() -> Strangers:
    """The commands of other packages; a name of our own stays ours, whoever else claims it."""
    return {name: entry for name, entry in installed_plugins().commands.entries.items() if name not in OWN}


def dispatch(
    arguments: list[str],
    find_strangers: Callable[[], Strangers] = plugin_commands,
    lookout: Callable[[], Lookout] = shared_lookout,
) -> int:
    """Run a command.

    Args:
        arguments: those of the command line.
        find_strangers: finds the commands of other packages.
        lookout: makes what tells when the import of one takes long.

    Raises:
        UsageError: the arguments make no sense.
        OpenMindError: the command says so.
    """
    if arguments and set(arguments) == {"--json"}:
        raise UsageError("No command was named", hint="`openmind --help` lists the commands.")
    named = arguments[0] if arguments and not arguments[0].startswith("-") else None
    # The commands of OpenMind itself are known without asking the plugins, which takes longer than some of them run.
    strangers = {} if named in OWN else find_strangers()
    if named is not None and named not in OWN:
        _check_command(named, strangers, lookout)
    app = build_app(strangers)
    try:
        code = app(arguments, print_error=False, exit_on_error=False, result_action="return_value")
    except CycloptsError as error:
        raise UsageError(_sentence(error), hint=_hint(error, named)) from error
    except (OpenMindError, BrokenPipeError, KeyboardInterrupt):
        raise
    except SystemExit as end:
        code = _last_word(end, strangers.get(named or ""))
    except BaseException as error:
        stranger = strangers.get(named or "")
        if stranger is None:
            raise
        raise PluginError(
            f"The command “{stranger.name}” of the package {stranger.distribution} failed ({type(error).__name__})",
            hint="Update that package or uninstall it.",
        ) from error
    return _exit_code(code, strangers.get(named or ""))


def _last_word(end: SystemExit, stranger: Registered[CommandEntry] | None) -> object:
    """The exit code of a command that ends the process; a text instead of one says why it cannot go on."""
    if stranger is None or not isinstance(end.code, str):
        return end.code
    raise PluginError(
        f"The command “{stranger.name}” of the package {stranger.distribution} ended: {words_of(end)}"
    ) from None


def _exit_code(code: object, stranger: Registered[CommandEntry] | None) -> int:
    """What a command returned; of one from another package it may be anything."""
    if code is None:
        return OK
    is_number = isinstance(code, int) and not isinstance(code, bool)
    if is_number and cast(int, code) in range(MOST_EXIT_CODE + 1):
        return cast(int, code)
    if stranger is None:
        return OK
    told = str(code) if is_number else type(code).__name__
    if isinstance(code, Coroutine):
        code.close()  # nobody waits for it, of which Python would complain
    raise PluginError(
        f"The command “{stranger.name}” of the package {stranger.distribution} returned {told} and not an exit code",
        hint=f"Update that package: a command returns a number from 0 to {MOST_EXIT_CODE}, or nothing.",
    )


def build_app(strangers: Strangers) -> App:
    """The whole command line; commands are imported when they are run."""
    app = App(
        name="openmind",
        help="A local memory over the folders you approve.",
        version=lambda: version("openmind-cli"),
        help_format="plaintext",  # markdown would cost a third of the time that the help takes
        suppress_keyboard_interrupt=False,
    )
    for number, (name, target, line) in enumerate(COMMANDS):
        app.command(target, name=name, help=line, sort_key=number)
    for name, entry in strangers.items():
        app.command(entry.value.target, name=name, help=entry.value.help, sort_key=len(COMMANDS))
    return app


def _check_command(name: str, strangers: Strangers, lookout: Callable[[], Lookout]) -> None:
    entry = strangers.get(name)
    if entry is None:
        raise UsageError(f"There is no command “{name}”", hint=_did_you_mean(name, [*OWN, *strangers]))
    module, _, attribute = entry.value.target.partition(":")
    wait = Wait(plugin_of(entry.plugin, entry.distribution), f"the import of its command “{name}”", entry.plugin)
    try:
        with nullcontext() if entry.distribution in OURS else lookout().over(wait):
            getattr(importlib.import_module(module), attribute)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise PluginError(
            f"The command “{name}” of the package {entry.distribution} cannot be loaded "
            f"from {entry.value.target}: {named_error(error)}",
            hint="Update that package or uninstall it; `openmind plugins` lists what is installed.",
        ) from error


def _did_you_mean(name: str, known: Iterable[str]) -> str:
    import difflib  # waits until somebody mistypes

    close = difflib.get_close_matches(name, known, n=1)
    found = f"Did you mean `openmind {close[0]}`? " if close else ""
    return f"{found}`openmind --help` lists the commands."


def _sentence(error: CycloptsError) -> str:
    """What is wrong."""
    if isinstance(error, UnusedCliTokensError):
        return f"There is more than the command takes: {' '.join(error.unused_tokens or ())}"
    if isinstance(error, RepeatArgumentError) and error.token.keyword:
        return f"{error.token.keyword} comes after the same option, or its opposite: give one of them"
    return str(error).strip() or "The arguments make no sense"


def _hint(error: CycloptsError, named: str | None) -> str:
    chain = " ".join(error.command_chain or ([named] if named else []))
    shown = f"`openmind {chain} --help`" if chain else "`openmind --help`"
    dashes = " Put `--` before text that begins with a dash." if isinstance(error, UnknownOptionError) else ""
    return f"{shown} shows what can be given.{dashes}"
