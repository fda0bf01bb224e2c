"""An OCR engine that the configuration names and that is not there."""


def test_an_unknown_engine_is_told_with_those_that_are_there_unless_none_is_wanted(world) -> None:
    with world.memory() as memory:
        assert memory.status().trouble == ""
    written = '[extraction.ocr]\nbackend = "tesseract"\n'
    (world.home / "config.toml").write_text(written)
    with world.memory() as memory:
        assert "no OCR engine “tesseract”" in memory.status().trouble
        assert "Installed: " in memory.trouble()

    (world.home / "config.toml").write_text(written + "enabled = false\n")
    with world.memory() as memory:
        assert memory.status().trouble == ""
