"""What servers do with pictures: each test names the quirk that it plays."""

import struct
from typing import Any

import pytest
from lmstudio_server import ScriptedServer, steps
from openmind.domain.errors import ProviderError
from openmind.testing.contracts.image_describer import JPEG, PNG
from openmind_lmstudio.images import ServedDescriber
from openmind_lmstudio.provider import LMStudioProvider

COMPLETIONS = "/v1/chat/completions"


@pytest.fixture
def describer(provider: LMStudioProvider) -> ServedDescriber:
    return provider.describer("acme/eyes")


@pytest.mark.parametrize(("image", "media_type"), [(PNG, "image/png"), (JPEG, "image/jpeg")])
def test_a_picture_goes_as_a_data_url(
    server: ScriptedServer, describer: ServedDescriber, image: bytes, media_type: str
) -> None:
    told = describer.describe(image, media_type=media_type, max_new_tokens=100)

    [body] = server.posts(COMPLETIONS)
    text, picture = body["messages"][0]["content"]
    assert told == server.studio.description
    assert text["type"] == "text"
    assert picture["image_url"]["url"].startswith(f"data:{media_type};base64,")
    assert body["max_tokens"] == 100
    assert body["stream"] is False


@pytest.mark.parametrize(
    ("image", "media_type"),
    [
        (b"RIFF\x00\x00\x00\x00WEBPVP8 ", "image/webp"),
        (b"RIFF\x00\x00\x00\x00WEBPVP8 ", "image/png"),
        (b"http://example.com/cat.png", "image/png"),
        (PNG, "image/jpeg"),
        (JPEG[:8], "image/jpeg"),
        (b"", "image/png"),
    ],
)
def test_webp_urls_and_scraps_are_not_sent(
    server: ScriptedServer, describer: ServedDescriber, image: bytes, media_type: str
) -> None:
    with pytest.raises(ProviderError):
        describer.describe(image, media_type=media_type)

    assert server.requests == []


def test_a_picture_that_is_too_large_is_not_sent(server: ScriptedServer, describer: ServedDescriber) -> None:
    wide = PNG[:16] + struct.pack(">II", 60_000, 60_000) + PNG[24:]
    heavy = PNG + b"\0" * (13 * 1024 * 1024)

    for image in (wide, heavy):
        with pytest.raises(ProviderError):
            describer.describe(image, media_type="image/png")

    assert server.requests == []


def test_a_model_that_cannot_see_gets_no_picture(server: ScriptedServer, provider: LMStudioProvider) -> None:
    with pytest.raises(ProviderError, match="takes no pictures"):
        provider.describer("acme/chat").describe(PNG, media_type="image/png")

    assert COMPLETIONS not in server.paths()


@pytest.mark.parametrize(
    "told",
    ["Model does not support images. Please use a model that does.", "'url' field must be a base64 encoded image"],
)
def test_a_picture_that_the_server_refuses_is_told(
    server: ScriptedServer, describer: ServedDescriber, told: str
) -> None:
    server.always(COMPLETIONS, steps.reply(400, steps.flat(told)))

    with pytest.raises(ProviderError, match="did not take the picture"):
        describer.describe(PNG, media_type="image/png")


def test_thoughts_are_no_description(server: ScriptedServer, describer: ServedDescriber) -> None:
    server.studio.always_reasons = True
    server.studio.description = "<think>A bicycle?</think>\n\nA bicycle."

    assert describer.describe(PNG, media_type="image/png") == "A bicycle."


def test_thoughts_that_use_up_the_length_get_more_of_it(server: ScriptedServer, describer: ServedDescriber) -> None:
    def greedy(exchange: Any) -> None:
        exchange.studio.description = "" if exchange.request.body["max_tokens"] < 400 else "A bicycle."
        steps.normal(exchange)

    server.always(COMPLETIONS, greedy)

    assert describer.describe(PNG, media_type="image/png", max_new_tokens=220) == "A bicycle."


def test_structured_output_is_not_asked_for_so_it_cannot_land_in_the_wrong_field(
    server: ScriptedServer, describer: ServedDescriber
) -> None:
    server.studio.description = ""
    server.studio.always_reasons = True

    with pytest.raises(ProviderError, match="said nothing"):
        describer.describe(PNG, media_type="image/png")

    assert all("response_format" not in body for body in server.posts(COMPLETIONS))
