"""What a tenant was told of a resource, for pages of apps that do not know who delivers: one app registers the source."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID


@dataclass(frozen=True, slots=True)
class Told:
    """One delivery of an event to an endpoint, or with no endpoint an event that no endpoint wanted.

    `page` is the address of its page in the admin of the tenant.
    """

    at: datetime
    type: str
    page: str
    endpoint: str = ""
    state: str = ""
    attempts: int = 0
    done_at: datetime | None = None


# The bound tenant, the resource, and the instants at which its events occurred.
Source = Callable[[UUID, UUID, Sequence[datetime]], list[Told]]
_sources: list[Source] = []


def tell_deliveries_by(source: Source) -> None:
    """Register the source."""
    if source not in _sources:
        _sources.append(source)


def deliveries_of(tenant_id: UUID, resource_id: UUID, moments: Sequence[datetime]) -> list[Told]:
    """List what the bound tenant was told of a resource, the oldest first; `moments` are those of its events."""
    found = [told for source in _sources for told in source(tenant_id, resource_id, moments)] if moments else []
    return sorted(found, key=lambda told: told.at)
