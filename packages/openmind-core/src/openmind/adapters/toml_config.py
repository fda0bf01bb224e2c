"""config.toml: read strictly, written with comments and order kept."""

import errno
import hashlib
import tomllib
from collections.abc import Callable, Mapping, MutableMapping
from pathlib import Path
from typing import TypeVar

import attrs
import cattrs
from attrs import frozen
from cattrs.errors import BaseValidationError, ForbiddenExtraKeysError
from cattrs.gen import make_dict_structure_fn
from cattrs.v import format_exception, transform_error

from openmind.adapters.atomic import replace_file
from openmind.adapters.toml_file import read_config_bytes, read_toml
from openmind.domain.config import Config, Section
from openmind.domain.errors import ConfigError, StoreFull

T = TypeVar("T")


@frozen
class ConfigFile:
    """The configuration on disk. A missing file means all defaults."""

    path: Path

    def fingerprint(self) -> str:
        """Hash the bytes: another fingerprint means another configuration."""
        return hashlib.sha256(read_config_bytes(self.path)).hexdigest()

    def load(self) -> Config:
        """Read it.

        Raises:
            ConfigError: it is no TOML, has unknown keys or values of the wrong type; the message names the key.
        """
        return structure(read_toml(self.path), Config, where=str(self.path))

    def update(
        self, changes: Mapping[tuple[str, ...], object], *, check: Callable[[Config], object] = lambda _: None
    ) -> None:
        """Set values by their key path; None removes the key. The rest of the file stays as it was written.

        Args:
            changes: what is to change.
            check: looks at the outcome, and raises a `ConfigError` when it is not right.

        Raises:
            ConfigError: the file is not valid, would not be, or cannot be written; it is as it was.
            StoreFull: there is no space left; it is as it was.
        """
        import tomlkit  # what only reads, as each worker process does, has no use for it

        self.load()
        document = tomlkit.parse(read_config_bytes(self.path).decode("utf-8"))
        for path, value in changes.items():
            _set(document, path, value, new_section=tomlkit.table)
        text = tomlkit.dumps(document)
        check(structure(tomllib.loads(text), Config, where=str(self.path)))
        try:
            replace_file(self.path, text.encode("utf-8"))
        except OSError as error:
            raise not_written(self.path, error) from error


def not_written(path: Path, error: OSError) -> ConfigError | StoreFull:
    """Say why the configuration could not be written."""
    if error.errno in {errno.ENOSPC, errno.EDQUOT}:
        return StoreFull(f"There is no space left to write {path}", hint="Free some disk space, and try again.")
    told = f"{path} cannot be written: {error.strerror or error}"
    return ConfigError(told, hint="Check the permissions of its folder.")


def structure(document: Section, kind: type[T], *, where: str) -> T:
    """Turn a section into its attrs class: unknown keys and wrong types are errors that name the key.

    Raises:
        ConfigError
    """
    try:
        return _CONVERTER.structure(document, kind)
    except BaseValidationError as error:
        told = "; ".join(map(_with_key, transform_error(error, path="", format_exception=_told)))
        raise ConfigError(f"{where}: {told}", hint="Mend or delete that line.") from error
    except (TypeError, ValueError) as error:
        raise ConfigError(f"{where}: {error}", hint="Mend or delete that line.") from error


def _told(error: BaseException, kind: type | None) -> str:
    if isinstance(error, ForbiddenExtraKeysError):
        return f"has unknown keys: {', '.join(sorted(map(str, error.extra_fields)))}"
    if isinstance(error, (TypeError, ValueError)) and error.args:
        return str(error.args[0])
    return format_exception(error, kind)


def _with_key(told: str) -> str:
    """`must be … @ .indexing.workers` begins with the key: `indexing.workers must be …`."""
    what, _, key = told.rpartition(" @ ")
    return f"{key.removeprefix('.')} {what}".strip() if what else told


def _set(
    document: MutableMapping[str, object], path: tuple[str, ...], value: object, *, new_section: Callable[[], object]
) -> None:
    table = document
    for name in path[:-1]:
        if name not in table:
            if value is None:
                return
            table[name] = new_section()
        inner = table[name]
        if not isinstance(inner, MutableMapping):
            raise ConfigError(f"{'.'.join(path)} cannot be set: {name} is no section", hint="Name a key of a section.")
        table = inner
    if value is None:
        table.pop(path[-1], None)
    else:
        table[path[-1]] = value


def _exactly(kind: type, names: str) -> Callable[[object, type], object]:
    def check(value: object, _: type) -> object:
        if type(value) is not kind:
            raise TypeError(f"must be {names}, not {value!r}")
        return value

    return check


def _section_hook(kind: type[object], converter: cattrs.Converter) -> Callable[[object, type], object]:
    structured = make_dict_structure_fn(
        kind, converter, _cattrs_forbid_extra_keys=True, _cattrs_detailed_validation=True
    )

    def check(value: object, _: type) -> object:
        if not isinstance(value, Mapping):
            raise TypeError(f"must be a section, not {value!r}")
        return structured(value, kind)

    return check


def _is_names(kind: object) -> bool:
    return kind == tuple[str, ...]


def _names(value: object, _: type) -> tuple[str, ...]:
    """Read a list of texts; one text is none, and would be taken for a list of its characters."""
    if not isinstance(value, list | tuple) or not all(isinstance(name, str) for name in value):
        raise TypeError(f"must be a list of texts in quotes, not {value!r}")
    return tuple(value)


def _is_open_section(kind: object) -> bool:
    return kind == Section


def _open_section(value: object, _: type) -> Section:
    if not isinstance(value, Mapping):
        raise TypeError(f"must be a section, not {value!r}")
    return dict(value)


def _make_converter() -> cattrs.Converter:
    """Cattrs turns `"false"` into True unless it is told what each type really is."""
    converter = cattrs.Converter(forbid_extra_keys=True, detailed_validation=True)
    converter.register_structure_hook_factory(attrs.has, _section_hook)
    converter.register_structure_hook_func(_is_names, _names)
    converter.register_structure_hook_func(_is_open_section, _open_section)
    # The values of a plugin's section are left as they are: the plugin reads them.
    converter.register_structure_hook_func(lambda kind: kind is object, lambda value, _: value)
    converter.register_structure_hook(bool, _exactly(bool, "true or false"))
    converter.register_structure_hook(int, _exactly(int, "a whole number"))
    converter.register_structure_hook(str, _exactly(str, "text in quotes"))
    converter.register_structure_hook(float, _exactly(float, "a number"))
    return converter


_CONVERTER = _make_converter()
