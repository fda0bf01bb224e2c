"""One suite per port: subclass it in an adapter's tests and every promise of the port is checked."""

from pkgutil import iter_modules

import pytest

# A promise that is broken is shown with its values, as in a test that somebody wrote beside the plugin.
pytest.register_assert_rewrite(*(f"{__name__}.{module.name}" for module in iter_modules(__path__)))
