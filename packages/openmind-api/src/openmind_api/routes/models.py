"""Providers and models."""

from contextlib import suppress

from litestar import get, post, put
from litestar.params import JSONBody
from openmind.domain.contract import (
    Object,
    actions_object,
    health_object,
    job_object,
    models_object,
    providers_object,
    selection_object,
)
from openmind.domain.errors import JobError
from openmind.live import LiveMemory

from openmind_api.bodies import StrictBody
from openmind_api.described import answers, fails
from openmind_api.injected import Live, LoadSlots
from openmind_api.own_thread import in_own_thread
from openmind_api.schemas import replies
from openmind_api.schemas.requests import ModelKeys, Selection


@get("/providers", sync_to_thread=True, responses=answers(replies.Providers))
def providers(live: Live) -> Object:
    """List the providers of models that are installed."""
    with live.current() as memory:
        return providers_object(memory.models.providers())


@get("/providers/status", sync_to_thread=True, responses=answers(replies.ProviderStatus))
def provider_status(live: Live) -> Object:
    """Ask whether the configured provider answers."""
    with live.current() as memory:
        return health_object(memory.models.health())


@get("/models", sync_to_thread=True, responses=answers(replies.Models) | fails(503))
def models(live: Live) -> Object:
    """List the models that can be chosen, by what they can do."""
    with live.current() as memory:
        return models_object(memory.models.provider_name, memory.models.list())


@post(
    "/models/load",
    status_code=200,
    dto=StrictBody[ModelKeys],
    return_dto=None,
    responses=answers(replies.LoadedModels) | fails(400, 429, 503),
)
async def load_models(data: JSONBody[ModelKeys], live: Live, loads: LoadSlots) -> Object:
    """Load models into the provider's memory; null loads the configured ones. This may take minutes."""

    def load() -> Object:
        with live.current() as memory:
            return {"results": actions_object(memory.models.load(data.model_keys))}

    with loads.one():
        return await in_own_thread(load)


@put(
    "/models/selection",
    dto=StrictBody[Selection],
    return_dto=None,
    responses=answers(replies.ModelSelection) | fails(400, 409, 429, 503),
)
async def select_models(data: JSONBody[Selection], live: Live, loads: LoadSlots) -> Object:
    """Choose the models that are used from now on. Another embedding model is taken in beside the former one."""

    def select() -> Object:
        with live.current() as memory:
            report = memory.models.select(data.selection(), load=data.load)
        return {**selection_object(report), "index_job": index_job(live) if report.embedder_changed else None}

    with loads.one():
        return await in_own_thread(select)


def index_job(live: LiveMemory) -> Object | None:
    """Begin to take another embedding model in, if the configuration lets that happen by itself."""
    with live.current() as memory, suppress(JobError):  # the models are chosen all the same
        if memory.config.indexing.background and memory.sources.list():
            return job_object(memory.jobs.start())
    return None


ROUTES = (providers, provider_status, models, load_models, select_models)
