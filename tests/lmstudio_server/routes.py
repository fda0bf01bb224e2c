"""What each route answers when nothing is wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lmstudio_server import steps
from lmstudio_server.studio import NATIVE_CHAT_FIELDS, Json, ServedModel

if TYPE_CHECKING:
    from lmstudio_server.server import Exchange


def answer(exchange: Exchange) -> None:
    """Answer as LM Studio would."""
    studio, request = exchange.studio, exchange.request
    if studio.token and request.headers.get("authorization") != f"Bearer {studio.token}":
        exchange.json(steps.native("missing or wrong token", code="invalid_api_key"), status=401)
        return
    route = _ROUTES.get((request.method, request.path))
    hidden = ("/api/v1",) if studio.version == "0.3" else ("/api/",) if studio.version == "other" else ()
    if route is None or request.path.startswith(hidden):
        if studio.version == "other":
            exchange.send(b"404 page not found", content_type="text/plain", status=404)
        else:
            exchange.json(steps.flat(f"Unexpected endpoint or method. ({request.method} {request.path})"))
        return
    route(exchange)


def _native_models(exchange: Exchange) -> None:
    exchange.json({"models": [model.as_native() for model in exchange.studio.models]})


def _v0_models(exchange: Exchange) -> None:
    studio = exchange.studio
    listed = [model.as_v0() for model in studio.models if studio.jit or model.instances]
    exchange.json({"object": "list", "data": listed})


def _openai_models(exchange: Exchange) -> None:
    studio = exchange.studio
    listed = [{"id": model.key, "object": "model", "owned_by": "acme"} for model in studio.models]
    exchange.json({"object": "list", "data": listed})


def _load(exchange: Exchange) -> None:
    studio, body = exchange.studio, exchange.request.body
    model = next((model for model in studio.models if model.key == body["model"]), None)
    if model is None:
        exchange.json(steps.native("no such model", type="model_not_found"), status=404)
        return
    with studio.lock:
        id_ = model.load(studio.context_ignored or body.get("context_length"))
    exchange.json({"type": model.type, "instance_id": id_, "load_time_seconds": 0.1, "status": "loaded"})


def _unload(exchange: Exchange) -> None:
    id_ = exchange.request.body["instance_id"]
    model = next((model for model in exchange.studio.models if id_ in model.instances), None)
    if model is None:
        exchange.json(steps.native("no such instance", type="model_not_found"), status=404)
        return
    del model.instances[id_]
    exchange.json({"instance_id": id_})


def _embeddings(exchange: Exchange) -> None:
    studio, server, body = exchange.studio, exchange.server, exchange.request.body
    texts = [body["input"]] if isinstance(body["input"], str) else body["input"]
    if not texts or not all(isinstance(text, str) and text for text in texts):
        exchange.json(steps.flat("'input' field must be a string or an array of strings"), status=400)
        return
    model = _ready(exchange, body["model"], compat=True)
    if model is None:
        return
    if model.type != "embedding":
        exchange.json(steps.openai("Model is not embedding", code="model_not_found", param="model"), status=400)
        return
    with studio.lock:
        server.embedding_now += 1
        server.most_embeddings_at_once = max(server.most_embeddings_at_once, server.embedding_now)
    try:
        studio.work(studio.embed_s)
        if studio.crash_text is not None and any(studio.crash_text in text for text in texts):
            model.instances.clear()
            exchange.json(
                steps.flat("The model has crashed without additional information. (Exit code: 6)"), status=400
            )
            return
        rows = [studio.vector(text, model.dimension) for text in texts]
    finally:
        with studio.lock:
            server.embedding_now -= 1
    data = [{"object": "embedding", "index": at, "embedding": row} for at, row in enumerate(rows)]
    usage = {"prompt_tokens": 0, "total_tokens": 0}
    exchange.json({"object": "list", "data": data, "model": body["model"], "usage": usage})


def _ready(exchange: Exchange, name: str, *, compat: bool) -> ServedModel | None:
    """Find a model and load it if that is allowed; else answer why not."""
    studio = exchange.studio
    model = studio.find(name)
    if model is None:
        message = f"Invalid model identifier '{name}'"
        document = (
            steps.openai(message, code="model_not_found", param="model")
            if compat
            else steps.native(message, type="model_not_found")
        )
        exchange.json(document, status=400 if compat else 404)
        return None
    if not model.instances:
        if not studio.jit:
            exchange.json(steps.flat("No models loaded. Please load a model in the developer page."), status=400)
            return None
        studio.load_on_request(model)
    return model


def _native_chat(exchange: Exchange) -> None:
    studio, body = exchange.studio, exchange.request.body
    wrong = _wrong_native_field(exchange, body)
    if wrong is not None:
        exchange.json(wrong, status=400)
        return
    model = _ready(exchange, body["model"], compat=False)
    if model is None:
        return
    reasons = studio.always_reasons or (model.reasoning and body.get("reasoning", model.reasoning[0]) != "off")
    output: list[Json] = [{"type": "reasoning", "content": "".join(studio.thoughts)}] if reasons else []
    output.append({"type": "message", "content": "".join(studio.answer)})
    result: Json = {"model_instance_id": next(iter(model.instances)), "output": output}
    result["stats"] = {"input_tokens": 9, "total_output_tokens": 7, "reasoning_output_tokens": 3 if reasons else 0}
    if body.get("store", True):
        result["response_id"] = studio.new_response_id()
    if not body.get("stream"):
        exchange.json(result)
        return
    exchange.begin_stream()
    exchange.event({"type": "chat.start", "model_instance_id": result["model_instance_id"]})
    exchange.event({"type": "prompt_processing.start"})
    exchange.event({"type": "prompt_processing.progress", "progress": 0.5})
    exchange.event({"type": "prompt_processing.end"})
    for kind, pieces in (("reasoning", studio.thoughts if reasons else []), ("message", studio.answer)):
        if pieces:
            exchange.event({"type": f"{kind}.start"})
            for piece in pieces:
                exchange.wait(studio.pause_s)
                exchange.event({"type": f"{kind}.delta", "content": piece})
            exchange.event({"type": f"{kind}.end"})
    exchange.event({"type": "chat.end", "result": result})
    exchange.end_stream()


def _wrong_native_field(exchange: Exchange, body: Json) -> Json | None:
    unknown = set(body) - NATIVE_CHAT_FIELDS
    if unknown:
        return steps.native(f"Unrecognized key(s) in object: '{min(unknown)}'", code="unrecognized_keys")
    if isinstance(body["input"], list) and any(item.get("type") not in ("text", "image") for item in body["input"]):
        return steps.native("Invalid union", code="invalid_union", param="input")
    model = exchange.studio.find(body["model"])
    wish = body.get("reasoning")
    if wish is not None and model is not None and wish not in model.reasoning:
        told = "does not expose reasoning configuration" if not model.reasoning else "supported: ..."
        return steps.native(told, code="invalid_value", param="reasoning")
    previous = body.get("previous_response_id")
    if previous is not None and previous not in exchange.studio.response_ids:
        return steps.native("unknown response", code="previous_response_not_found", param="previous_response_id")
    return None


def _completions(exchange: Exchange) -> None:
    studio, body = exchange.studio, exchange.request.body
    model = _ready(exchange, body["model"], compat=True)
    if model is None:
        return
    pictures = [part for part in _parts(body["messages"]) if part.get("type") == "image_url"]
    if pictures and not model.vision:
        exchange.json(steps.flat("Model does not support images. Please use a model that does."), status=400)
        return
    if not all(_is_picture(picture["image_url"]["url"]) for picture in pictures):
        exchange.json(steps.flat("'url' field must be a base64 encoded image"), status=400)
        return
    text = studio.description if pictures else "".join(studio.answer)
    if not body.get("stream"):
        message: Json = {"role": "assistant", "content": text}
        if studio.always_reasons:
            message["reasoning_content"] = "".join(studio.thoughts)
        exchange.json({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}], "model": body["model"]})
        return
    exchange.begin_stream()
    for field, pieces in (
        ("reasoning_content", studio.thoughts if studio.always_reasons else []),
        ("content", studio.answer),
    ):
        for piece in pieces:
            exchange.wait(studio.pause_s)
            exchange.data({"choices": [{"index": 0, "delta": {field: piece}, "finish_reason": None}]})
    exchange.data({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
    exchange.write(b"data: [DONE]\n\n")
    exchange.end_stream()


def _parts(messages: list[Json]) -> list[Json]:
    return [part for message in messages if isinstance(message["content"], list) for part in message["content"]]


def _is_picture(url: str) -> bool:
    return url.startswith(("data:image/png;base64,", "data:image/jpeg;base64,"))


def _responses(exchange: Exchange) -> None:
    studio, body = exchange.studio, exchange.request.body
    if _ready(exchange, body["model"], compat=True) is None:
        return
    output: list[Any] = []
    if body.get("reasoning", {}).get("effort", "none") != "none":
        output.append({"type": "reasoning", "content": [{"type": "reasoning_text", "text": "".join(studio.thoughts)}]})
    text = "".join(studio.answer)
    output.append({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]})
    exchange.json({"id": studio.new_response_id(), "object": "response", "status": "completed", "output": output})


_ROUTES = {
    ("GET", "/api/v1/models"): _native_models,
    ("POST", "/api/v1/models/load"): _load,
    ("POST", "/api/v1/models/unload"): _unload,
    ("POST", "/api/v1/chat"): _native_chat,
    ("GET", "/api/v0/models"): _v0_models,
    ("GET", "/v1/models"): _openai_models,
    ("POST", "/v1/embeddings"): _embeddings,
    ("POST", "/v1/chat/completions"): _completions,
    ("POST", "/v1/responses"): _responses,
}
