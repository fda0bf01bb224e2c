"""Every hook a plugin can implement, on one screen.

A plugin is a package with an entry point in the group `openmind` that names a module; functions of that module
marked `@hookimpl` are called once per process, before anything is built. They do no I/O and import nothing
heavy: registries take factories.
"""

import pluggy

from openmind.plugins.registries import (
    CommandRegistry,
    ExtractorRegistry,
    ProviderRegistry,
    RouteRegistry,
    StoreRegistry,
)

GROUP = "openmind"
VERSION = 1
"""Of this page. A plugin may say which one it was written for, `OPENMIND_HOOKS = 1`; another one is refused."""
hookspec = pluggy.HookspecMarker(GROUP)
hookimpl = pluggy.HookimplMarker(GROUP)


@hookspec
def openmind_register_extractors(registry: ExtractorRegistry) -> None:
    """Add file formats and OCR engines: `registry.add(info, factory)`, `registry.add_ocr(name, factory)`."""


@hookspec
def openmind_register_providers(registry: ProviderRegistry) -> None:
    """Add model providers: `registry.add("acme", factory, config=AcmeConfig)`.

    The name is what people write in `[provider] name`.
    """


@hookspec
def openmind_register_stores(registry: StoreRegistry) -> None:
    """Add storage: `registry.add("attic", factory)`. The name is what people write in `[storage] name`."""


@hookspec
def openmind_register_commands(registry: CommandRegistry) -> None:
    """Add commands: `registry.add("serve", "openmind_api.cli:app", help="…")`. Nothing is imported before use."""


@hookspec
def openmind_register_routes(registry: RouteRegistry) -> None:
    """Add routes of the loopback API: `registry.add("acme", "acme.routes:router")`, served below `/api/v1/x/acme`."""
