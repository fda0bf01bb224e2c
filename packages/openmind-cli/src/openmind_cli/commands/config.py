"""`openmind config`: the settings in config.toml."""

from collections.abc import Mapping

from cyclopts import App
from openmind.bootstrap import open_settings

from openmind_cli.exit_codes import OK
from openmind_cli.parameters import Json
from openmind_cli.render.clean import one_line
from openmind_cli.render.lines import line, note, print_lines
from openmind_cli.render.objects import print_object
from openmind_cli.render.values import bare, written

app = App(name="config", help="Show and change settings.")


@app.command
def get(key: str | None = None, /, *, json: Json = False) -> int:
    """Show settings, with the defaults of those that are not set.

    Parameters
    ----------
    key
        Such as indexing.workers, or a section such as indexing; all when it is left out.
    """
    settings = open_settings()
    found = settings.all() if key is None else settings.get(key)
    several = found if isinstance(found, Mapping) else None
    if json:
        print_object({"settings": dict(several) if several is not None else {str(key): found}})
    elif several is not None:
        print_lines([line(f"{one_line(name)} = {written(value)}") for name, value in several.items()])
    else:
        print_lines([line(bare(found))])
    return OK


@app.command(name="set")
def set_value(key: str, value: str, /, *, json: Json = False) -> int:
    """Change a setting.

    Parameters
    ----------
    key
        Such as indexing.workers.
    value
        A number, true, false, text, or a list such as '["*.bak"]'; none gives the default back.
    """
    settings = open_settings()
    found = settings.set(key, value)
    if json:
        print_object({"settings": {key: found}})
    else:
        print_lines([line(f"{one_line(key)} = {written(found)}")])
        if key == "provider.name":
            note("Next: `openmind setup` chooses its models.")
    if key.startswith("provider."):
        for notice in settings.notices():
            note(one_line(notice))
    return OK


@app.command
def path(*, json: Json = False) -> int:
    """Say where config.toml is, whether or not it is there yet."""
    file = open_settings().path
    if json:
        print_object({"path": str(file), "exists": file.is_file()})
    else:
        print_lines([line(one_line(str(file)))])
    return OK
