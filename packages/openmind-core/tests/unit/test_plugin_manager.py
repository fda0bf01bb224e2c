"""Loading plugins: every kind of broken one is named, and costs nobody else anything."""

import sys
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path

import pytest
from openmind.application.lookout import BLOCKED_VARIABLE, Lookout, Wait
from openmind.domain.errors import PluginError
from openmind.domain.plugins import PluginReport
from openmind.plugins.manager import Plugins, load_plugins
from openmind.testing.fakes.hanging import Hanging

HEAD = """
from openmind.plugins.hookspecs import hookimpl
from openmind.ports.extractor import ExtractorInfo

def info(name, **more):
    return ExtractorInfo(**{"name": name, "version": 1, "extensions": frozenset({f".{name}"}), **more})

"""
GOOD = (
    HEAD
    + "@hookimpl\ndef openmind_register_extractors(registry):\n    registry.add(info('good'), lambda tools: None)\n"
)


class Shelf:
    """Modules that plugins could be, and the entry points that name them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.points: list[EntryPoint] = []

    def put(self, name: str, source: str) -> None:
        (self.folder / f"plugin_of_{name}.py").write_text(source)
        self.points.append(EntryPoint(name=name, value=f"plugin_of_{name}", group="openmind"))

    def load(self, **options: object) -> Plugins:
        return load_plugins(tuple(self.points), **options)  # type: ignore[arg-type]

    def error(self, source: str) -> str:
        """What is wrong with a plugin that is installed beside a good one."""
        self.points.clear()
        sys.modules.pop("plugin_of_bad", None)
        self.put("bad", source)
        self.put("good", GOOD)
        plugins = self.load()
        assert [report.name for report in plugins.broken] == ["bad"]
        assert "good" in plugins.extractors.entries
        return report_of(plugins, "bad").error


@pytest.fixture
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shelf:
    monkeypatch.syspath_prepend(str(tmp_path))
    for name in [name for name in sys.modules if name.startswith("plugin_of_")]:
        monkeypatch.delitem(sys.modules, name)
    return Shelf(tmp_path)


def report_of(plugins: Plugins, name: str) -> PluginReport:
    return next(report for report in plugins.reports if report.name == name)


def hook(body: str, *, name: str = "openmind_register_extractors", argument: str = "registry") -> str:
    return f"{HEAD}@hookimpl\ndef {name}({argument}):\n    {body}\n"


def test_what_a_plugin_registers_carries_its_name(shelf: Shelf) -> None:
    shelf.put("good", GOOD)

    entry = shelf.load().extractors.registered("good")

    assert (entry.plugin, entry.distribution) == ("good", "good")


@pytest.mark.parametrize("wrong", ["raise RuntimeError('no luck')", "import sys; sys.exit(3)", "1 / 0", "a b c"])
def test_one_that_breaks_at_import_is_named(shelf: Shelf, wrong: str) -> None:
    error = shelf.error(wrong)

    assert error.startswith(("RuntimeError: no luck", "SystemExit: 3", "ZeroDivisionError", "SyntaxError"))


@pytest.mark.parametrize("wrong", ["raise BaseException('panicked')", "import asyncio\nraise asyncio.CancelledError"])
def test_one_that_panics_at_import_or_in_a_hook_is_named(shelf: Shelf, wrong: str) -> None:
    assert shelf.error(wrong).startswith(("BaseException: panicked", "CancelledError"))
    assert shelf.error(hook(f"exec({wrong!r})")).startswith(("BaseException: panicked", "CancelledError"))


def test_an_error_without_words_and_one_of_many_are_told_by_name(shelf: Shelf) -> None:
    mute = "class Mute(Exception):\n    def __str__(self):\n        return self.words\nraise Mute\n"

    assert shelf.error(mute) == "Mute"
    assert len(shelf.error("raise ValueError('x' * 100_000)")) < 250


def test_one_that_is_not_there_is_named(shelf: Shelf) -> None:
    plugins = load_plugins((EntryPoint(name="gone", value="no_such_module_anywhere", group="openmind"),))

    assert "no_such_module_anywhere" in report_of(plugins, "gone").error


@pytest.mark.parametrize(
    ("source", "told"),
    [
        (
            hook("pass", name="openmind_register_extractor"),
            "there is no hook openmind_register_extractor; did you mean openmind_register_extractors?",
        ),
        (hook("pass", argument="registri"), "takes one argument named registry, not (registri)"),
        (hook("yield"), "openmind_register_extractors would never run: a hook is a plain function"),
        (hook("pass").replace("def openmind", "async def openmind"), "would never run: a hook is a plain function"),
        (hook("pass", argument=""), "takes one argument named registry, not ()"),
        (hook("pass", argument="registry, config"), "takes one argument named registry, not (registry, config)"),
        (HEAD + "def openmind_register_routes(registry):\n    pass\n", "openmind_register_routes lacks its @hookimpl"),
        (HEAD, "it has no hook; a plugin has at least one of openmind_register_extractors,"),
        ("OPENMIND_HOOKS = 2\n" + GOOD, "it was written for version 2 of OpenMind's hooks, and this OpenMind has"),
    ],
)
def test_a_slip_of_the_pen_is_told_with_the_right_spelling(shelf: Shelf, source: str, told: str) -> None:
    assert told.lower() in shelf.error(source).lower()


@pytest.mark.parametrize("stated", ["'1'", "1.0", "True"])
def test_a_version_that_is_no_whole_number_is_told_as_what_it_is(shelf: Shelf, stated: str) -> None:
    error = shelf.error(f"OPENMIND_HOOKS = {stated}\n{GOOD}")

    assert error.startswith(f"Its OPENMIND_HOOKS is {stated} ({type(eval(stated)).__name__}), and a whole number is")


def test_the_version_of_the_hooks_may_be_stated(shelf: Shelf) -> None:
    shelf.put("good", "OPENMIND_HOOKS = 1\n" + GOOD)

    assert not shelf.load().broken


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("raise ValueError('not today')", "ValueError: not today"),
        ("registry.add('notes', lambda tools: None)", "with an ExtractorInfo, not with 'notes'"),
        ("registry.add(info('bad'), 'factory')", "with a function that makes it, not with 'factory'"),
        ("registry.add(info('bad name'), print)", "the extractor 'bad name' needs a name of lower-case letters"),
        ("registry.add(info('bad', version=0), print)", "the version of the extractor “bad” is 0"),
        ("registry.add(info('bad', extensions=frozenset()), print)", "needs extensions such as “.txt”"),
        ("registry.add(info('bad', extensions=frozenset({'TXT'})), print)", "needs extensions such as “.txt”"),
        ("registry.add(info('bad', isolated=False, pictures=True), print)", "it has to run isolated"),
        ("registry.add_ocr('bad', None)", "with a function that makes it, not with None"),
        ("registry.add(info('bad'), print); registry.add(info('bad'), print)", "is registered twice by bad"),
    ],
)
def test_one_that_breaks_while_it_registers_is_named(shelf: Shelf, body: str, told: str) -> None:
    assert told.lower() in shelf.error(hook(body)).lower()


@pytest.mark.parametrize(
    ("name", "body", "told"),
    [
        ("openmind_register_commands", "registry.add('hum', 'no target', help='')", "“module:attribute”"),
        ("openmind_register_routes", "registry.add('hum', None)", "“module:attribute”"),
        ("openmind_register_routes", "registry.add('../status', 'a:b')", "needs a name of lower-case letters"),
        ("openmind_register_providers", "registry.add('hum', print, config=dict)", "is no attrs class"),
        ("openmind_register_stores", "registry.add('hum', 'store')", "a function that makes it"),
    ],
)
def test_every_registry_looks_at_what_it_is_given(shelf: Shelf, name: str, body: str, told: str) -> None:
    assert told.lower() in shelf.error(hook(body, name=name)).lower()


def test_what_a_plugin_registered_before_it_broke_is_withdrawn(shelf: Shelf) -> None:
    shelf.put("bad", hook("registry.add(info('half'), print); registry.add_ocr('eyes', print); raise KeyError"))

    plugins = shelf.load()

    assert not plugins.extractors.entries
    assert not plugins.extractors.ocr.entries


def test_a_name_that_is_taken_names_both_packages_and_leaves_the_first(shelf: Shelf) -> None:
    shelf.put("first", hook("registry.add(info('notes'), lambda tools: 1)"))
    shelf.put("second", hook("registry.add(info('notes'), lambda tools: 2)"))

    plugins = shelf.load()

    assert report_of(plugins, "second").error == "The extractor “notes” is registered twice, by first and second"
    assert plugins.extractors.registered("notes").plugin == "first"


def test_no_stranger_can_take_a_name_of_ours(shelf: Shelf) -> None:
    """Though `aaa` comes first by name."""
    from importlib.metadata import entry_points

    shelf.put("aaa", hook("registry.add(info('pdf'), lambda tools: 1)"))

    plugins = load_plugins((*shelf.points, *entry_points(group="openmind")))

    assert [report.name for report in plugins.broken] == ["aaa"]
    assert plugins.extractors.registered("pdf").distribution == "openmind-extractors"


@pytest.mark.parametrize("source", [GOOD, "raise ImportError"])
def test_the_name_of_an_entry_point_is_taken_once_and_who_comes_second_harms_nobody(shelf: Shelf, source: str) -> None:
    from importlib.metadata import entry_points

    shelf.put("stores", source)

    plugins = load_plugins((*shelf.points, *entry_points(group="openmind")), blocked={"extractors"})

    [broken] = plugins.broken
    assert (broken.name, broken.distribution) == ("stores", "stores")
    assert "that of the package openmind-stores" in broken.error
    assert "plugin_of_stores" not in sys.modules
    assert plugins.stores.registered("local").distribution == "openmind-stores"
    assert [report.distribution for report in plugins.reports if report.blocked] == ["openmind-extractors"]


@pytest.mark.parametrize("how", ["configuration", "environment"])
def test_one_that_is_blocked_is_not_even_imported(shelf: Shelf, monkeypatch: pytest.MonkeyPatch, how: str) -> None:
    shelf.put("bad", "raise RuntimeError")
    shelf.put("good", GOOD)
    if how == "environment":
        monkeypatch.setenv(BLOCKED_VARIABLE, "other, bad")

    plugins = shelf.load(blocked={"bad"} if how == "configuration" else ())

    assert report_of(plugins, "bad").blocked
    assert not plugins.broken
    assert "plugin_of_bad" not in sys.modules


def test_one_that_hangs_at_import_is_named_when_it_is_interrupted(shelf: Shelf) -> None:
    shelf.put("bad", "raise KeyboardInterrupt")  # as Ctrl-C does while it hangs

    with pytest.raises(
        KeyboardInterrupt, match="while the plugin “bad” of the package bad was at its import"
    ) as caught:
        shelf.load()

    assert "OPENMIND_PLUGINS_BLOCKED=bad leaves it out" in str(caught.value)


@pytest.mark.parametrize(
    ("source", "what"),
    [
        ("import night; night.hang()\n" + GOOD, "its import"),
        (hook("import night; night.hang()"), "its hook `openmind_register_extractors`"),
    ],
)
def test_one_that_hangs_while_it_is_loaded_is_told_with_what_it_is_at(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch, source: str, what: str
) -> None:
    night = Hanging()
    monkeypatch.setitem(sys.modules, "night", night)  # type: ignore[arg-type]  # anything can be imported
    shelf.put("slow", source)

    plugins = shelf.load(lookout=night.lookout())

    assert not plugins.broken
    assert night.said == [Wait("the plugin “slow” of the package slow", what, "slow").told]


def test_without_a_plugin_of_another_package_nobody_is_watched_over() -> None:
    def never(sentence: str) -> None:
        raise AssertionError(sentence)

    def no_thread(seconds: float) -> None:
        raise AssertionError("a thread was begun")

    [ours] = [point for point in entry_points(group="openmind") if point.name == "cli"]

    assert not load_plugins((ours,), lookout=Lookout(tell=never, sleep=no_thread)).broken


def test_what_a_plugin_prints_while_it_is_loaded_stays_out_of_the_output(
    shelf: Shelf, capsys: pytest.CaptureFixture[str]
) -> None:
    shelf.put("loud", "print('imported')\n" + hook("print('called')"))

    assert not shelf.load().broken

    assert capsys.readouterr() == ("", "imported\ncalled\n")


def test_calls_are_noted(shelf: Shelf) -> None:
    shelf.put("good", GOOD)

    [call] = report_of(shelf.load(), "good").calls

    assert (call.hook, call.added) == ("openmind_register_extractors", ("good",))
    assert call.milliseconds >= 0


def test_an_extractor_that_cannot_be_made_names_its_package(shelf: Shelf) -> None:
    from openmind.domain.config import ExtractionConfig

    shelf.put("bad", hook("registry.add(info('notes'), lambda tools: 1 / 0)"))

    with pytest.raises(PluginError, match="The extractor “notes” of bad cannot be made: ZeroDivisionError"):
        shelf.load().extractors.build("notes", ExtractionConfig(), plugins={})


def test_an_extractor_gets_the_section_of_its_plugin(shelf: Shelf) -> None:
    from openmind.domain.config import ExtractionConfig

    shelf.put("good", hook("registry.add(info('notes'), lambda tools: tools.settings)"))

    made = shelf.load().extractors.build("notes", ExtractionConfig(), plugins={"good": {"depth": 3}, "blocked": []})

    assert made == {"depth": 3}  # type: ignore[comparison-overlap]
