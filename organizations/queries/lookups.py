"""Look-up of a tenant by slug or id, for commands of other apps."""

from uuid import UUID

from core.ids import parse_uuid
from organizations.models import Tenant


def tenant_named(name: str) -> UUID | None:
    """Return the id of the tenant with this slug or id, or None."""
    key = parse_uuid(name)
    found: UUID | None = (
        Tenant.objects.filter(**({"pk": key} if key else {"slug": name})).values_list("pk", flat=True).first()
    )
    return found
