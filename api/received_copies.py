"""The answer of the other party: the members of a received copy, as its owner's rows were represented for it.

    class OrderForSupplierOut(Representation):  # over the buyer's rows: what the supplier may see
        ...

    ReceivedOrderOut = received("ReceivedOrderOut", OrderForSupplierOut, ReceivedOrder, lines="lines")

A copy that was made before a member came to be answers null for it until the copies are rebuilt.
"""

from types import new_class
from typing import Any, cast

from django.db import models

from .representations import Computed, Representation


class _Member(Computed):
    """A member that stands in the copy as it is served."""

    def to_representation(self, value: Any) -> Any:
        return value


def _form(field: Any) -> Any:
    """What describes a member's value: of a computed one its form."""
    return field.form if isinstance(field, Computed) else field


def received(
    name: str, shown: type[Representation], copy: type[models.Model], /, *, lines: str = "", **meta: Any
) -> type[Representation]:
    """Return the representation of copies with the members of `shown`; `lines` is the member with a column of its own.

    `meta` becomes part of its `Meta`.
    """
    members = {
        member: _Member(
            't."lines"' if member == lines else f"t.\"representation\" -> '{member}'",
            _form(field),
            allow_null=field.allow_null,  # as its column has made it, which DRF forgets of a field that it copies
        )
        for member, field in shown().fields.items()
    }
    includes = getattr(shown.Meta, "includes", ())
    kept = [member for member in members if member not in includes]
    described = type(
        "Meta", (), {"model": copy, "fields": (*kept,), "unpacked": "representation", "shown": shown, **meta}
    )
    body = {
        **{one: members[one] for one in kept},
        "Meta": described,
        "__doc__": shown.__doc__,
        "__module__": shown.__module__,
    }
    return cast("type[Representation]", new_class(name, (Representation,), exec_body=lambda space: space.update(body)))
