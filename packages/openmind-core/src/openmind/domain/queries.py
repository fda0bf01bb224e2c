"""A query as the analyser understands it."""

from attrs import frozen


@frozen
class AnalysedQuery:
    """What a person typed, in the words of the index."""

    terms: tuple[str, ...] = ()
    """Distinct, in the order of the query; any of them may match."""
    phrases: tuple[tuple[str, ...], ...] = ()
    """What stood in double quotes: terms that must stand side by side."""
    identifiers: tuple[str, ...] = ()
    """Those of the terms that are exact: to meet one whole is no accident."""
    asked: tuple[str, ...] = ()
    """The terms as the index is best asked for them: function words only where there are no others, and twice what
    the query says more than once."""
