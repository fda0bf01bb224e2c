"""Small remembered values, and forgetting everything."""

from operator import itemgetter
from typing import Final

from openmind_stores.sqlite.records import TEXT, Form, Session, shapes

_VALUE: Final = "SELECT value FROM settings WHERE name = ?"
_SET: Final = "INSERT OR REPLACE INTO settings (name, value) VALUES (?, ?)"
_UNSET: Final = "DELETE FROM settings WHERE name = ?"

# The counter of generations is not among them: a number that was given out never comes back.
_CLEAR: Final = (
    "DELETE FROM files",
    "DELETE FROM texts",
    "DELETE FROM vectors",
    "DELETE FROM changes",
    "DELETE FROM index_runs",
    "DELETE FROM index_jobs",
    "DELETE FROM index_tables",
    "DELETE FROM intents",
    "DELETE FROM garbage",
    "DELETE FROM filled",
    "DELETE FROM settings WHERE name <> 'written_by'",
)
_CLEAR_SOURCES: Final = "DELETE FROM sources"


SETTINGS: Final[Form[str]] = Form(
    table="settings", every="SELECT value FROM settings", shapes=shapes(TEXT), make=itemgetter(0)
)


class SettingReading(Session):
    """Looks values up."""

    def setting(self, name: str) -> str | None:
        return self.one(SETTINGS, _VALUE, (name,))


class SettingWriting(SettingReading):
    """Sets values, or forgets everything."""

    def set_setting(self, name: str, value: str | None) -> None:
        if value is None:
            self.link.run(_UNSET, (name,))
        else:
            self.link.run(_SET, (name, value))

    def clear(self, *, sources: bool) -> None:
        for statement in _CLEAR:
            self.link.run(statement)
        if sources:
            self.link.run(_CLEAR_SOURCES)
