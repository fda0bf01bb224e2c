"""The test kit for plugin authors: fakes, fixtures and contract suites."""
