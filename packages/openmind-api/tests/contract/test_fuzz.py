"""The API against its own schema: whatever is sent, no answer is a bug, and every answer is one that is documented."""

from collections.abc import Iterator

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_schema_conformance,
    status_code_conformance,
)

LEFT_OUT = "^/api/v1/index/(start|pause|resume|stop)$"
"""Each start is a process; these have no body to play with."""
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
    negative_data_rejection,
]


@pytest.fixture(scope="module")
def fuzzed(tmp_path_factory, make_world) -> Iterator[object]:
    """A memory of its own: what is sent may change it."""
    world = make_world(tmp_path_factory.mktemp("fuzzed"))
    world.configure(chat="fake-chat")
    world.index()
    with world.served() as api:
        yield api


@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE])
def test_s27_whatever_is_sent_is_answered_as_documented(fuzzed, mode) -> None:
    headers = {"Authorization": f"Bearer {fuzzed.world.token}"}
    tried = set()

    for operation in operations(fuzzed):

        @given(case=operation.as_strategy(generation_mode=mode))
        @settings(deadline=None, max_examples=15, suppress_health_check=list(HealthCheck), database=None)
        def send(case: schemathesis.Case) -> None:
            case.call_and_validate(headers=headers, checks=CHECKS, timeout=100)

        if mode is GenerationMode.NEGATIVE and not (operation.body or operation.query or operation.path_parameters):
            continue  # there is nothing to get wrong
        send()
        tried.add(operation.label)

    assert len(tried) >= (20 if mode is GenerationMode.POSITIVE else 12)


def operations(api) -> Iterator[schemathesis.schemas.APIOperation]:
    schema = schemathesis.openapi.from_url(f"{api.url}/openapi.json").exclude(path_regex=LEFT_OUT)
    for result in schema.get_all_operations():
        yield result.ok()
