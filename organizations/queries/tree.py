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
    """The position of an organization in its tree: its own id, then its ancestors up to the root."""

    path: tuple[UUID, ...]

    @property
    def root(self) -> UUID:
        """The root of the tree."""
        return self.path[-1]

    @property
    def depth(self) -> int:
        """The level of the organization; a root is on level 1."""
        return len(self.path)


def place_of(organization_id: UUID) -> Place:
    """Return the position of an existing organization in its tree."""
    return Place(path(ORGANIZATIONS, organization_id))


@needs_transaction
def lock_trees(*organization_ids: UUID) -> None:
    """Lock the trees of these organizations against moves until the transaction ends.

    A tree may be moved below another root while this waits for the lock; then that root is locked as well.
    """
    held: set[UUID] = set()
    while wanted := {place_of(one).root for one in organization_ids} - held:
        for root in sorted(wanted):
            with connection.cursor() as cursor:
                cursor.execute(_LOCK, [str(root)])
        held |= wanted
