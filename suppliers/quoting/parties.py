"""Who a quote is for, and where it is delivered to."""

from typing import Final, NamedTuple
from uuid import UUID

from core.errors import FieldError, InvalidFields
from core.pipeline import Call, Rows, Statement
from organizations.public import reach


class Party(NamedTuple):
    """A tenant that may buy: a provider or a pharmacy; `currency` is its own."""

    currency: str
    is_buyer: bool


_PARTY: Final = Statement.of(
    "SELECT n.currency, n.kinds && ARRAY['provider', 'pharmacy']::varchar[] AND n.status <> 'closed' AS is_buyer"
    " FROM organizations_tenant n WHERE n.id = $1",
    row=Party,
)
_PLACE: Final = Statement.of(
    "SELECT coalesce(t.address ->> 'country', '') FROM organizations_location t WHERE t.tenant_id = $1 AND t.id = $2"
    f" AND {reach('id', below=True).sql.replace('$tenant', '$1')}"
)


def party_call(tenant_id: UUID) -> Call:
    """Return the statement that reads a tenant; see `party_of`."""
    return Call(_PARTY, [str(tenant_id)])


def party_of(found: Rows) -> Party | None:
    """Return the tenant that `party_call` has read; None if there is no such tenant."""
    return next(iter(found.of(Party)), None)


def place_call(tenant_id: UUID, location_id: UUID) -> Call:
    """Return the statement that reads the country of a location of the bound tenant; see `country_of`."""
    return Call(_PLACE, [str(tenant_id), str(location_id)])


def country_of(found: Rows, field: str) -> str | None:
    """Return the country that `place_call` has read; None where it is not known. `field` is the member that names the location.

    :raises InvalidFields: the tenant has no such location.
    """
    if not len(found):
        message = "There is no such location."
        raise InvalidFields(errors=[FieldError(field, "unknown_location", message)])
    return (found.value() or b"").decode() or None
