"""The tree of organizations. Source: contract, organizations.md."""

from dataclasses import dataclass
from uuid import UUID

from django.db import connection

from core.db import needs_transaction
from core.trees import Tree, path

MAX_DEPTH = 8

ORGANIZATIONS = Tree("organizations_organization", most=2 * MAX_DEPTH)
_LOCK = "SELECT pg_advisory_xact_lock(hashtextextended('organization:' || %s, 0))"
BELOW = f't."id" IN (SELECT id FROM {ORGANIZATIONS.down("n.parent_id = {0}::uuid", most="{1}::integer")} down)'


@dataclass(frozen=True, slots=True)
class Place:
    """Where a node stands: itself first, then its ancestors up to the root."""

    path: tuple[UUID, ...]

    @property
    def root(self) -> UUID:
        """The top of the tree."""
        return self.path[-1]

    @property
    def depth(self) -> int:
        """1 for a root."""
        return len(self.path)


def place_of(organization_id: UUID) -> Place:
    """Where an existing organization stands in its tree."""
    return Place(path(ORGANIZATIONS, organization_id))


@needs_transaction
def lock_trees(*organization_ids: UUID) -> None:
    """Hold the shape of the trees these organizations are in, until the transaction ends.

    A tree may have been moved below another root while we waited; then that root is locked as well.
    """
    held: set[UUID] = set()
    while wanted := {place_of(one).root for one in organization_ids} - held:
        for root in sorted(wanted):
            with connection.cursor() as cursor:
                cursor.execute(_LOCK, [str(root)])
        held |= wanted
