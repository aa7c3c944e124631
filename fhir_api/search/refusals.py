"""What a search is refused with; each is a 400 with an issue that names the parameter, never a value of it."""

from core.errors import Malformed


class InvalidSearch(Malformed):
    """A parameter's value, modifier or prefix is not of its form."""

    code = "invalid_search"
    title = "The search is not valid."


class UnknownSearchParameter(Malformed):
    """A parameter that the type does not have, where the client wants to be told."""

    code = "unknown_parameter"
    title = "The search names a parameter that this type does not have."


class UnsupportedSearch(Malformed):
    """A modifier or a form of a value that the standard knows and this server does not offer for the parameter."""

    code = "unsupported_search"
    title = "The search uses what this server does not support."


class UnknownValueSet(Malformed):
    """`:in` or `:not-in` names a value set that this server does not have."""

    code = "unknown_value_set"
    title = "The value set is not known."


class UnknownCodeSystem(Malformed):
    """`:above` or `:below` names a code whose place in a hierarchy this server does not know."""

    code = "unknown_code_system"
    title = "The hierarchy of the code system is not known."


def wrong_value(name: str, wanted: str) -> InvalidSearch:
    """The refusal of a value; `wanted` says which form it shall have."""
    return InvalidSearch(f"The value of the search parameter '{name}' is not valid: {wanted}.", issue_type="value")


def unknown(name: str, type_name: str) -> UnknownSearchParameter:
    """The refusal of a parameter."""
    return UnknownSearchParameter(
        f"The search parameter '{name}' is not known for {type_name}.", issue_type="not-supported"
    )


def unsupported_modifier(name: str, modifier: str) -> UnsupportedSearch:
    """The refusal of a modifier. Source: R4 search.html#modifiers, "SHALL reject"."""
    return UnsupportedSearch(
        f"The modifier ':{modifier}' is not supported for the search parameter '{name}'.", issue_type="not-supported"
    )


__all__ = [
    "InvalidSearch",
    "UnknownCodeSystem",
    "UnknownSearchParameter",
    "UnknownValueSet",
    "UnsupportedSearch",
    "unknown",
    "unsupported_modifier",
    "wrong_value",
]
