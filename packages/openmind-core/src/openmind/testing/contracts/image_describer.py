"""What every model that sees promises."""

import base64
from concurrent.futures import ThreadPoolExecutor

import pytest

from openmind.domain.errors import ProviderError, ProviderUnreachable
from openmind.ports.image_describer import ImageDescriber

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAABgAAAAQCAAAAAApT+BJAAAAFElEQVR4nGM8wYAdMOEQH5WgqQQAUlcA6BPoTkgAAAAASUVORK5CYII="
)
JPEG = base64.b64decode(
    "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDACgcHiMeGSgjISMtKygwPGRBPDc3PHtYXUlkkYCZlo+AjIqgtObDoKrarYqMyP/L2u71////m8H//"
    "//6/+b9//j/wAALCAAQABgBAREA/8QAFQABAQAAAAAAAAAAAAAAAAAAAAT/xAAUEAEAAAAAAAAAAAAAAAAAAAAA/9oACAEBAAA/ALgAf//Z"
)


class ImageDescriberContract:
    """Subclass in an adapter's tests and give the fixtures; every promise is checked.

    `describer` describes any picture. The others fail at every picture: `unreachable` has no server, `blind` cannot
    see, `silent` says nothing.
    """

    def test_it_names_its_model(self, describer: ImageDescriber) -> None:
        assert describer.model

    @pytest.mark.parametrize(("image", "media_type"), [(PNG, "image/png"), (JPEG, "image/jpeg")])
    def test_a_description_is_text(self, describer: ImageDescriber, image: bytes, media_type: str) -> None:
        assert describer.describe(image, media_type=media_type).strip()

    def test_its_length_can_be_asked_for(self, describer: ImageDescriber) -> None:
        assert describer.describe(PNG, media_type="image/png", max_new_tokens=64).strip()

    def test_threads_share_it(self, describer: ImageDescriber) -> None:
        with ThreadPoolExecutor(4) as pool:
            told = list(pool.map(lambda _: describer.describe(PNG, media_type="image/png"), range(8)))

        assert all(description.strip() for description in told)

    def test_without_a_server_that_is_told(self, unreachable: ImageDescriber) -> None:
        with pytest.raises(ProviderUnreachable):
            unreachable.describe(PNG, media_type="image/png")

    def test_a_model_that_cannot_see_says_so(self, blind: ImageDescriber) -> None:
        with pytest.raises(ProviderError):
            blind.describe(PNG, media_type="image/png")

    def test_silence_is_no_description(self, silent: ImageDescriber) -> None:
        with pytest.raises(ProviderError):
            silent.describe(PNG, media_type="image/png")
