import pickle

import pytest
from openmind.domain.errors import (
    ContextOverflow,
    ModelNotFound,
    ModelNotLoaded,
    PassageRefused,
    ProviderError,
    ProviderUnauthorized,
)
from openmind_lmstudio.errors import (
    CannotSee,
    ConversationLost,
    EngineCrashed,
    NoModelLoaded,
    ReasoningRefused,
    Refusal,
    RequestRefused,
    RouteUnknown,
    ServerFailed,
    TokenSource,
    translate,
)

CASES = [
    (401, {"error": {"type": "invalid_request", "code": "invalid_api_key", "message": "x"}}, ProviderUnauthorized),
    (403, None, ProviderUnauthorized),
    (200, {"error": "Unexpected endpoint or method. (GET /x)"}, RouteUnknown),
    (404, None, RouteUnknown),
    (404, {"error": {"type": "model_not_found", "message": "x"}}, ModelNotFound),
    (400, {"error": {"code": "model_not_found", "param": "model", "message": "Invalid identifier"}}, ModelNotFound),
    (400, {"error": {"code": "model_not_found", "message": "Model is not embedding"}}, ModelNotFound),
    (400, {"error": "No models loaded. Please load a model."}, NoModelLoaded),
    (400, {"error": {"code": None, "message": "No models loaded"}}, NoModelLoaded),
    (400, {"error": "The model has crashed without additional information."}, EngineCrashed),
    (500, {"error": {"type": "model_load_failed", "message": "x"}}, ModelNotLoaded),
    (500, {"error": {"code": "model_load_failed", "message": "x"}}, ModelNotLoaded),
    (400, {"error": {"code": "previous_response_not_found", "message": "x"}}, ConversationLost),
    (400, {"error": {"param": "previous_response_id", "message": "x"}}, ConversationLost),
    (400, {"error": {"param": "reasoning", "code": "invalid_value", "message": "x"}}, ReasoningRefused),
    (400, {"error": "Context size has been exceeded."}, ContextOverflow),
    (400, {"error": {"type": "exceed_context_size_error", "message": "x"}}, ContextOverflow),
    (400, {"error": "Model does not support images."}, CannotSee),
    (500, {"error": {"type": "internal_error", "message": "x"}}, ServerFailed),
    (429, None, ServerFailed),
    (400, {"error": {"code": "brand_new", "message": "x"}}, RequestRefused),
    (200, {"error": {}}, RequestRefused),
    (200, {"error": ["what"]}, RequestRefused),
    (400, ["what"], RequestRefused),
]


@pytest.mark.parametrize(("status", "document", "kind"), CASES, ids=range(len(CASES)))
def test_each_refusal_has_its_error(status: int, document: object, kind: type[ProviderError]) -> None:
    refusal = Refusal.read(status, document)

    assert refusal is not None
    error = translate(refusal, server="LM Studio", model="acme")
    assert type(error) is kind
    assert error.message
    assert pickle.loads(pickle.dumps(error)).message == error.message


@pytest.mark.parametrize("document", [None, [], {}, {"data": []}, {"error": None}, {"error": False}])
def test_a_success_is_no_refusal(document: object) -> None:
    assert Refusal.read(200, document) is None


def test_the_words_of_the_server_are_not_repeated() -> None:
    refusal = Refusal.read(400, {"error": {"message": "my diary says…", "type": "invalid_request"}})

    assert refusal is not None
    assert "diary" not in translate(refusal, server="LM Studio").message
    assert "diary" not in repr(refusal)


def test_an_index_survives_the_way_between_processes() -> None:
    error = pickle.loads(pickle.dumps(PassageRefused("no", index=3)))

    assert (error.index, error.message, error.code) == (3, "No", "provider.passage_refused")


def test_a_missing_token_and_a_wrong_one_are_told_apart() -> None:
    refusal = Refusal(status=401)

    missing = translate(refusal, server="LM Studio", token=TokenSource(variable="LM_API_TOKEN"))
    wrong = translate(refusal, server="LM Studio", token=TokenSource(variable="LM_API_TOKEN", sent=True))

    assert missing.message == "LM Studio wants an API token"
    assert "LM_API_TOKEN" in missing.hint
    assert wrong.message == "LM Studio does not accept the API token in LM_API_TOKEN"
    assert wrong.hint == "Check what the environment variable LM_API_TOKEN holds; the server made the token."


def test_a_refusal_within_a_success_is_not_told_as_a_success() -> None:
    refusal = Refusal(status=200, text="something odd")

    assert translate(refusal, server="LM Studio").message == "LM Studio refused the request"
