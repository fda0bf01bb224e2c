import pytest
from openmind_lmstudio.config import LMStudioConfig, OpenAICompatibleConfig


def test_the_defaults_are_those_of_the_documentation() -> None:
    config = LMStudioConfig()

    assert (config.base_url, config.api_token_env, config.allow_remote) == (
        "http://localhost:1234",
        "LM_API_TOKEN",
        False,
    )


@pytest.mark.parametrize("config", [LMStudioConfig, OpenAICompatibleConfig])
@pytest.mark.parametrize(
    ("field", "value"), [("base_url", "localhost"), ("base_url", "http://a:b@c"), ("api_token_env", "two words")]
)
def test_a_wrong_value_is_refused_with_the_name_of_its_field(config: type, field: str, value: str) -> None:
    with pytest.raises(ValueError, match=f"^{field} must"):
        config(**{field: value})


def test_no_token_is_sent_to_other_servers_unless_one_is_named() -> None:
    assert OpenAICompatibleConfig().api_token_env == ""
