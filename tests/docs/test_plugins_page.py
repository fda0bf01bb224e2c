import re
from pathlib import Path

from openmind.plugins import hookspecs
from openmind.plugins.registries import ExtractorRegistry, ProviderRegistry

PAGE = (Path(__file__).parents[2] / "docs" / "plugins.md").read_text()


def test_every_hook_has_a_heading() -> None:
    hooks = {name for name in vars(hookspecs) if name.startswith("openmind_register_")}

    assert hooks == set(re.findall(r"^## (openmind_register_\w+)$", PAGE, re.MULTILINE))


def test_every_example_runs() -> None:
    names: dict[str, object] = {}

    for block in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL):
        exec(compile(block, "docs/plugins.md", "exec"), names)

    extractors, providers = ExtractorRegistry(), ProviderRegistry()
    names["openmind_register_extractors"](extractors)  # type: ignore[operator]
    names["openmind_register_providers"](providers)  # type: ignore[operator]
    assert set(extractors.entries) == {"lyrics"}
    assert set(providers.entries) == {"acme"}
