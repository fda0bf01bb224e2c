"""What is said to somebody who names a model that is not there."""

from openmind_cli.suggestions import nearest


def test_a_few_models_are_all_named() -> None:
    assert nearest("nope", ["acme/chat", "embed"]) == "There are: acme/chat, embed."


def test_of_many_models_the_nearest_are_named() -> None:
    many = [f"publisher/model-{number}" for number in range(3_000)]

    told = nearest("acme/chatt", [*many, "acme/chat"])

    assert told == "There are 3,001; `openmind models list` shows them. Nearest: acme/chat."
    assert nearest("zzz", many) == "There are 3,000; `openmind models list` shows them."
