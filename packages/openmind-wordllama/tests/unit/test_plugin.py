import subprocess
import sys

from openmind.domain.config import Config
from openmind.domain.models import ModelSelection
from openmind.plugins.manager import load_plugins
from openmind_wordllama.provider import BuiltinProvider


def test_it_registers_the_provider_that_the_default_configuration_names() -> None:
    entry = load_plugins().providers.find(Config().provider_name)

    provider = entry.factory(None)

    assert isinstance(provider, BuiltinProvider)
    assert provider.selection() == ModelSelection(embedding_model=Config().models.embedding_model)


def test_neither_the_plugin_nor_the_identity_loads_anything_heavy() -> None:
    code = (
        "import sys, openmind_wordllama.plugin; from openmind_wordllama.provider import BuiltinProvider;"
        "provider = BuiltinProvider(); provider.health(); provider.models();"
        "assert provider.embedder('builtin').identity.dimension == 256;"
        "print([name for name in ('numpy', 'tokenizers', 'safetensors', 'wordllama') if name in sys.modules])"
    )

    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert told.stdout.strip() == "[]"
