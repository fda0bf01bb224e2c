"""The fakes of what talks and sees keep the same promises as the adapters."""

import pytest
from openmind.domain.errors import AnswerIncomplete, ContextOverflow, ProviderError, ProviderUnreachable
from openmind.testing.contracts.answer_provider import AnswerProviderContract
from openmind.testing.contracts.image_describer import ImageDescriberContract
from openmind.testing.fakes.images import FakeDescriber
from openmind.testing.fakes.models import FakeAnswers


class TestFakeAnswers(AnswerProviderContract):
    @pytest.fixture
    def thoughts(self) -> str:
        return "Let me see."

    @pytest.fixture
    def answerer(self, thoughts: str) -> FakeAnswers:
        return FakeAnswers(thoughts=thoughts)

    @pytest.fixture
    def unreachable(self) -> FakeAnswers:
        return FakeAnswers(script=[ProviderUnreachable("down")])

    @pytest.fixture
    def overflowing(self) -> FakeAnswers:
        return FakeAnswers(script=[ContextOverflow("too long")])

    @pytest.fixture
    def breaking(self) -> FakeAnswers:
        return FakeAnswers(script=[["The well", AnswerIncomplete("cut")]])

    @pytest.fixture
    def silent(self) -> FakeAnswers:
        return FakeAnswers(script=[ProviderError("nothing")])


class TestFakeDescriber(ImageDescriberContract):
    @pytest.fixture
    def describer(self) -> FakeDescriber:
        return FakeDescriber()

    @pytest.fixture
    def unreachable(self) -> FakeDescriber:
        return FakeDescriber(error=ProviderUnreachable("down"))

    @pytest.fixture
    def blind(self) -> FakeDescriber:
        return FakeDescriber(error=ProviderError("it cannot see"))

    @pytest.fixture
    def silent(self) -> FakeDescriber:
        return FakeDescriber(description="")
