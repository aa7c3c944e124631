"""The tree of organizations: adjacency and recursive queries; no paths, no closure table. Source: contract, organizations.md."""

from dataclasses import dataclass
from uuid import UUID

from django.db import connection

from core.db import needs_transaction

MAX_DEPTH = 8

_ANCESTORS = """
WITH RECURSIVE up AS (
  SELECT id, parent_id, 1 AS depth FROM organizations_organization WHERE id = %s
  UNION ALL
  SELECT p.id, p.parent_id, up.depth + 1 FROM organizations_organization p JOIN up ON p.id = up.parent_id WHERE up.depth < 64
) SELECT id FROM up ORDER BY depth
"""
_HEIGHT = """
WITH RECURSIVE down AS (
  SELECT id, 1 AS depth FROM organizations_organization WHERE id = %s
  UNION ALL
  SELECT c.id, down.depth + 1 FROM organizations_organization c JOIN down ON c.parent_id = down.id WHERE down.depth < 64
) SELECT max(depth) FROM down
"""
_LOCK = "SELECT pg_advisory_xact_lock(hashtextextended('organization:' || %s, 0))"
BELOW = """t."id" IN (
WITH RECURSIVE down AS (
  SELECT id, 1 AS depth FROM organizations_organization WHERE parent_id = {0}::uuid
  UNION ALL
  SELECT c.id, down.depth + 1 FROM organizations_organization c JOIN down ON c.parent_id = down.id
  WHERE down.depth < {1}::integer
) SELECT id FROM down)"""


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
    with connection.cursor() as cursor:
        cursor.execute(_ANCESTORS, [organization_id])
        return Place(tuple(row[0] for row in cursor.fetchall()))


def height_of(organization_id: UUID) -> int:
    """How many levels the subtree has; 1 for a leaf."""
    with connection.cursor() as cursor:
        cursor.execute(_HEIGHT, [organization_id])
        found: tuple[int] = cursor.fetchone()
    return found[0]


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
