"""What this server can do, type by type; the CapabilityStatement is printed from here."""

from typing import Final

from .definitions.parameters import BY_TYPE, Parameter
from .resources.types import NUMBERS

INSTANCE_AND_TYPE: Final = (
    "read",
    "vread",
    "update",
    "patch",
    "delete",
    "history-instance",
    "history-type",
    "create",
    "search-type",
)
SYSTEM: Final = ("transaction", "batch", "history-system", "search-system")


def types() -> tuple[str, ...]:
    """The types of resources that are kept."""
    return tuple(NUMBERS)


def search_parameters(type_name: str) -> tuple[Parameter, ...]:
    """The search parameters of a type, by name."""
    return tuple(sorted(BY_TYPE[type_name].values(), key=lambda one: one.code))


def references(type_name: str) -> tuple[Parameter, ...]:
    """Those that refer to other resources."""
    return tuple(one for one in search_parameters(type_name) if one.kind == "reference")


def referring(type_name: str) -> tuple[str, ...]:
    """What may refer to a type, as `_revinclude` names it."""
    return tuple(
        f"{source}:{one.code}"
        for source in types()
        for one in references(source)
        if not one.targets or type_name in one.targets
    )
