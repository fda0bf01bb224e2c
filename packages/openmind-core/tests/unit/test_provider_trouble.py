"""What a person is told of a provider that fails: what is so, and what ends it."""

from datetime import UTC, datetime

import pytest
from openmind.application.indexing.provider_trouble import ProviderTrouble
from openmind.application.indexing.run_log import RunLog
from openmind.domain.errors import ProviderBroken, ProviderError, ProviderUnauthorized, ProviderUnreachable
from openmind.domain.ids import JobId, RunId
from openmind.domain.jobs import IndexRun, JobState
from openmind.testing.fakes.catalog import MemoryCatalog

BROKEN = ProviderBroken("the provider “acme” is broken: it raised KeyError", hint="Update that package.")
MENDED = "vectors follow with the first `openmind index` after that is mended."


def trouble(job: str | None) -> ProviderTrouble:
    run = IndexRun(id=RunId("run_1"), started_at="t", state=JobState.RUNNING, job_id=JobId(job) if job else None)
    return ProviderTrouble(
        RunLog(catalog=MemoryCatalog(), run=run, sink=lambda _: None, now=lambda: datetime(2026, 1, 2, tzinfo=UTC))
    )


@pytest.mark.parametrize("job", [None, "job_1"])
def test_a_broken_package_is_not_waited_for_since_a_process_keeps_the_code_that_it_has(job: str | None) -> None:
    found = trouble(job)

    found.lost_embedder(BROKEN)

    assert found.needs_person
    assert found.first == "The provider “acme” is broken: it raised KeyError. Update that package."
    [notice] = found.log.notices
    assert notice.endswith(MENDED)


@pytest.mark.parametrize(
    ("error", "job", "told"),
    [
        (ProviderUnreachable("it is away"), "job_1", "vectors follow once it answers again."),
        (ProviderUnreachable("it is away"), None, "vectors follow with the next `openmind index`."),
        (ProviderError("it refused", hint="Load the model."), "job_1", "vectors follow once it answers again."),
        (ProviderError("it refused", hint="Load the model."), None, MENDED),
    ],
)
def test_what_may_be_over_by_itself_is_waited_for_by_a_job(error: ProviderError, job: str | None, told: str) -> None:
    found = trouble(job)

    found.lost_embedder(error)

    assert not found.needs_person
    assert found.log.notices[0].endswith(told)


def test_what_a_person_can_do_stands_in_the_error_of_the_run() -> None:
    found = trouble(None)
    error = ProviderUnreachable("nothing answers", hint="Start the server.")

    found.chosen_otherwise("Nothing answers. The built-in embedder is used.", error)

    assert found.first == "Nothing answers. The built-in embedder is used. Start the server."


def test_a_missing_token_is_told_with_where_it_goes() -> None:
    found = trouble("job_1")

    found.lost_embedder(ProviderUnauthorized("the server wants a token", hint="Put it into TOKEN."))

    assert (found.first, found.needs_person) == ("The server wants a token. Put it into TOKEN.", True)
