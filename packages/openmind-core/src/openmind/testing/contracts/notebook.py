"""What every notebook promises."""

from openmind.ports.notebook import Notebook


class NotebookContract:
    """Subclass in an adapter's tests and give a `notebook` fixture that is empty."""

    def test_what_was_never_noted_is_nothing(self, notebook: Notebook) -> None:
        assert notebook.look_up("acme") == ""

    def test_a_note_is_the_latest_or_forgotten(self, notebook: Notebook) -> None:
        notebook.note("acme", "one")
        notebook.note("acme", "two")
        notebook.note("other", "three")

        assert notebook.look_up("acme") in ("", "two")
        assert notebook.look_up("other") in ("", "three")

    def test_any_name_and_any_note_will_do(self, notebook: Notebook) -> None:
        for odd in ("", " ", "“\n\x00\ud800”", "x" * 1_000):
            notebook.note(odd, odd)
            assert notebook.look_up(odd) in ("", odd)
