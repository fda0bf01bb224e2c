import subprocess
import sys

from openmind.plugins.manager import load_plugins
from openmind_lmstudio.config import LMStudioConfig, OpenAICompatibleConfig


def test_both_providers_are_registered_with_their_settings() -> None:
    providers = load_plugins().providers

    assert providers.find("lmstudio").config is LMStudioConfig
    assert providers.find("openai-compatible").config is OpenAICompatibleConfig


def test_providers_are_built_from_their_settings_without_a_server() -> None:
    providers = load_plugins().providers

    for name in ("lmstudio", "openai-compatible"):
        entry = providers.find(name)
        assert entry.config is not None
        provider = entry.factory(entry.config())
        assert provider.display_name
        assert provider.selection() is None
        provider.embedder("m"), provider.answerer("m"), provider.describer("m")
        provider.close()


def test_the_http_library_is_imported_by_the_first_request_only() -> None:
    code = """
import sys
import openmind_lmstudio.plugin
light = set(sys.modules)
from openmind_lmstudio.config import LMStudioConfig
provider = openmind_lmstudio.plugin._lmstudio(LMStudioConfig(base_url="http://127.0.0.1:9"))
provider.embedder("m"); provider.answerer("m"); provider.close()
assert "openmind_lmstudio.provider" not in light
assert not {"httpx", "httpcore", "ssl"} & set(sys.modules), sorted(sys.modules)
assert not provider.health().reachable
assert "httpx" in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True)
