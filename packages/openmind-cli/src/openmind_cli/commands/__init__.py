"""The commands of OpenMind itself, one file each."""

from typing import Final

COMMANDS: Final = (
    ("setup", "openmind_cli.commands.setup:setup", "Choose models and folders, and begin to read."),
    ("init", "openmind_cli.commands.init:init", "Make OpenMind's own folder."),
    ("source", "openmind_cli.commands.source:app", "Say which folders OpenMind may read."),
    ("index", "openmind_cli.commands.index:app", "Read what is new or changed in the sources."),
    ("search", "openmind_cli.commands.search:search", "Find passages by meaning and by words."),
    ("ask", "openmind_cli.commands.ask:ask", "Answer a question from your files."),
    ("models", "openmind_cli.commands.models:app", "Show, load and choose models."),
    ("provider", "openmind_cli.commands.provider:app", "Look at where the models come from."),
    ("config", "openmind_cli.commands.config:app", "Show and change settings."),
    ("status", "openmind_cli.commands.status:status", "Show what is in memory and what goes on."),
    ("doctor", "openmind_cli.commands.doctor:doctor", "Look whether everything is sound, and mend what is not."),
    ("export", "openmind_cli.commands.exchange:export_memory", "Write the memory to one file."),
    ("import", "openmind_cli.commands.exchange:import_memory", "Read a memory from such a file."),
    ("flush", "openmind_cli.commands.flush:flush", "Empty the memory; your files stay."),
    ("uninstall", "openmind_cli.commands.uninstall:uninstall", "Delete OpenMind's own data, or all of OpenMind."),
    ("dev", "openmind_cli.commands.dev:app", "Look into OpenMind itself."),
    ("plugins", "openmind_cli.commands.plugins:app", "List the installed plugins."),
    ("demo", "openmind_cli.commands.demo:demo", "Try OpenMind on sample files."),
)
"""Name, where it is, and its line in the help. None is imported before it is run."""
