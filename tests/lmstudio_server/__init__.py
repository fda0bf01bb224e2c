"""A scripted LM Studio: real sockets, real server-sent events, nothing but the standard library.

    with ScriptedServer() as server:
        ...  # server.base_url goes into the config
        server.studio.answer = ["The well ", "is dry [1]."]
        server.script("/v1/embeddings", steps.reply(400, steps.flat("No models loaded. Load one first.")))
        ...
        assert server.paths("POST") == ["/v1/embeddings", "/api/v1/models/load", "/v1/embeddings"]

By itself it behaves like a well-mannered LM Studio 0.4: `Studio` holds its models and switches. `script` replaces the
behaviour for the next requests to a path, `always` for all of them.
"""

from lmstudio_server import steps
from lmstudio_server.server import Recorded, ScriptedServer
from lmstudio_server.studio import ServedModel, Studio, embedding, llm

__all__ = ["Recorded", "ScriptedServer", "ServedModel", "Studio", "embedding", "llm", "steps"]
