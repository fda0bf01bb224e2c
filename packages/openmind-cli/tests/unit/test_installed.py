"""What `openmind plugins` says of each plugin."""

import pytest
from attrs import evolve
from openmind.domain.plugins import PluginReport
from openmind.plugins.manager import Plugins, load_plugins
from openmind.testing.fakes.storage import MemoryStorages
from openmind_cli.installed import look_at


def with_attic(plugins: Plugins) -> Plugins:
    """Install a second storage."""
    plugins.stores.let_in("acme", "openmind-acme")
    plugins.stores.add("attic", MemoryStorages().at)
    acme = PluginReport(name="acme", distribution="openmind-acme", version="1.0")
    return evolve(plugins, reports=(*plugins.reports, acme))


@pytest.mark.parametrize(("chosen", "plugin"), [("attic", "acme"), ("local", "stores")])
def test_where_there_are_several_storages_the_one_that_is_used_is_told(chosen: str, plugin: str) -> None:
    shown = look_at(with_attic(load_plugins()), storage=chosen)

    assert {each.report.name: each.notes for each in shown if each.notes} == {plugin: (f"the store {chosen} is used",)}


def test_the_only_storage_needs_no_word() -> None:
    assert not any(each.notes for each in look_at(load_plugins(), storage="local"))
