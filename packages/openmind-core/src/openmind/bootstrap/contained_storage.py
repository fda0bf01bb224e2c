"""Storage of another package, contained: whatever it raises, or gives that its port does not promise, names it.

The port itself says what is due: what each call gives back is held against what its Protocol declares, and is
contained in turn where it is a part of storage itself: a session, a view, an iterator.
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from inspect import getattr_static
from pathlib import Path
from types import TracebackType, UnionType
from typing import cast, get_args, get_origin, get_type_hints

from attrs import field, frozen

from openmind.application.blame import blamed
from openmind.application.lookout import Lookout, Wait, shared_lookout
from openmind.domain.errors import PluginError
from openmind.domain.plugins import OURS, THIS_PROGRAM
from openmind.plugins.registries import StoreRegistry
from openmind.ports.storage import Storage

_FUNCTION: object = Callable


def open_storage(stores: StoreRegistry, name: str, home: Path) -> Storage:
    """Make the storage of a home. That of another package is contained.

    Raises:
        ConfigError: it is not installed.
        PluginError: it cannot be made.
    """
    found = stores.registered(name)
    if found.distribution in OURS | {THIS_PROGRAM}:
        return stores.build(name, home)
    lookout = shared_lookout()
    with lookout.over(Wait(_whom(name, found.distribution), "its factory", found.plugin)):
        made = stores.build(name, home)
    return contained_storage(made, name, found.distribution, plugin=found.plugin, lookout=lookout)


def contained_storage(
    storage: Storage, name: str, package: str, *, plugin: str = "", lookout: Lookout | None = None
) -> Storage:
    """Contain storage.

    Args:
        storage: as the package made it.
        name: what it is registered as.
        package: the distribution that registered it.
        plugin: the plugin that did; by its name it can be left out.
        lookout: tells of calls that take long.

    Raises:
        PluginError: it is none.
    """
    blame = _Blame(_whom(name, package), plugin or package, lookout or shared_lookout())
    return cast(Storage, blame.given(storage, Storage, "its factory"))


def _whom(name: str, package: str) -> str:
    return f"the store “{name}” of {package}"


@frozen
class _Blame:
    """Turns what a stranger's code raises, and what it gives back, into errors that name it; tells when it hangs."""

    whom: str
    plugin: str
    lookout: Lookout = field(eq=False)

    @contextmanager
    def taken(self, what: str, own: BaseException | None = None) -> Iterator[None]:
        """Let OpenMind's own errors, Ctrl-C and `own` pass; any other is a `PluginError`."""
        wait = Wait(self.whom, what, self.plugin)
        with blamed(self.whom, self.error, what=what, own=own), self.lookout.over(wait, own=own):
            yield

    def error(self, told: str) -> PluginError:
        return PluginError(
            f"{self.whom} is broken: {told}",
            hint="Update that package, or choose another store in `[storage]`.",
        )

    def given(self, value: object, due: object, what: str) -> object:
        """Look at what a call gave, and contain it where it acts itself.

        Raises:
            PluginError: it is not what is due.
        """
        kind: object = get_origin(due) or getattr(due, "__supertype__", due)
        inner = get_args(due)
        if due is None or kind is type(None):
            return None
        if kind is UnionType:
            return None if value is None else self.given(value, inner[0], what)
        if getattr(kind, "_is_protocol", False) and isinstance(kind, type) and kind.__module__.startswith("openmind."):
            missing = [name for name in _promised(kind) if not _has(value, name)]
            if missing:
                raise self.error(f"{what} gives {type(value).__name__}, which has no “{missing[0]}”")
            return _Part(value, kind, self)
        if not isinstance(kind, type) or not isinstance(value, kind):
            raise self.error(f"{what} gives {type(value).__name__} instead of {getattr(kind, '__name__', kind)}")
        if kind is AbstractContextManager:
            return _Session(cast(AbstractContextManager[object], value), inner[0], self, what)
        if kind is Iterator:
            return self.each(cast(Iterator[object], value), what)
        return self.call(value, type(None), what) if kind is _FUNCTION else value

    def each(self, items: Iterator[object], what: str) -> Iterator[object]:
        """Pass items on."""
        while True:
            with self.taken(what):
                try:
                    item = next(items)
                except StopIteration:
                    return
            yield item

    def call(self, function: object, due: object, what: str) -> Callable[..., object]:
        """Make a function that does what another one does."""

        def call(*args: object, **options: object) -> object:
            with self.taken(what):
                given = cast(Callable[..., object], function)(*args, **options)
            return self.given(given, due, what)

        return call


@cache
def _promised(port: type) -> dict[str, tuple[bool, object]]:
    """What a port has: by name whether it is called, and what is given then."""
    found = {}
    for name in dir(port):
        member = getattr_static(port, name)
        if not name.startswith("_"):
            is_called = not isinstance(member, property)
            found[name] = (is_called, get_type_hints(member if is_called else member.fget)["return"])
    return found


def _has(value: object, name: str) -> bool:
    try:
        getattr_static(value, name)
    except AttributeError:
        return hasattr(type(value), "__getattr__")
    return True


@frozen(eq=False)
class _Part:
    """Any part of storage. What its port does not know is its own affair."""

    inner: object
    port: type
    blame: _Blame

    def __getattr__(self, name: str) -> object:
        what = f"its `{name}`"
        with self.blame.taken(what):
            found = getattr(self.inner, name)
        promised = _promised(self.port).get(name)
        if promised is None:
            return found
        is_called, due = promised
        return self.blame.call(found, due, what) if is_called else self.blame.given(found, due, what)


@frozen(eq=False)
class _Session(AbstractContextManager[object]):
    """A context of storage. It ends no error of those who use it."""

    inner: AbstractContextManager[object]
    due: object
    blame: _Blame
    what: str

    def __enter__(self) -> object:
        with self.blame.taken(self.what):
            entered = self.inner.__enter__()
        return self.blame.given(entered, self.due, self.what)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self.blame.taken(self.what, own=error):
            self.inner.__exit__(kind, error, trace)
