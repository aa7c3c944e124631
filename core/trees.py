"""Trees in the database: tables whose rows name their parent by `parent_id`, walked by recursive queries.

The methods return sub-selects for the FROM or IN of a statement. `start` is a condition on a row `n` of the tree; the
caller writes its parameters in the style of the statement: `n.id = %s`, `n.id = $1`, `n.parent_id = {0}::uuid`. The tree
of one tenant names it by `core.conditions.TENANT`.
"""

from dataclasses import dataclass
from uuid import UUID

from django.db import connection

from .conditions import TENANT


@dataclass(frozen=True, slots=True)
class Tree:
    """A tree: `source` is its table or a sub-select, `scope` a condition on its rows `n`.

    `most` limits the steps of `up` and `down`, so that they end even if the data contain a cycle.
    """

    source: str
    most: int
    scope: str = "true"

    def up(self, start: str) -> str:
        """Return SQL for the rows of `start` and their ancestors, as `id` and `step`; the start is step 1."""
        return (
            f"(WITH RECURSIVE up AS (SELECT n.id, n.parent_id, 1 AS step FROM {self.source} n"
            f" WHERE {self.scope} AND {start}"
            f" UNION ALL SELECT n.id, n.parent_id, up.step + 1 FROM up JOIN {self.source} n"
            f" ON {self.scope} AND n.id = up.parent_id WHERE up.step < {self.most}) SELECT id, step FROM up)"
        )

    def down(self, start: str, *, most: str = "") -> str:
        """Return SQL for the rows of `start` and their descendants, as `id` and `step`, at most `most` steps deep."""
        return (
            f"(WITH RECURSIVE down AS (SELECT n.id, 1 AS step FROM {self.source} n WHERE {self.scope} AND {start}"
            f" UNION ALL SELECT n.id, down.step + 1 FROM down JOIN {self.source} n"
            f" ON {self.scope} AND n.parent_id = down.id WHERE down.step < {most or self.most}) SELECT id, step FROM down)"
        )

    def within(self, start: str, *, column: str = "id") -> str:
        """Return SQL for one column of the rows of `start` and of all their descendants, each row once."""
        columns = "n.id" if column == "id" else f"n.id, n.{column}"
        return (
            f"(WITH RECURSIVE within AS (SELECT {columns} FROM {self.source} n WHERE {self.scope} AND {start}"
            f" UNION SELECT {columns} FROM within JOIN {self.source} n ON {self.scope} AND n.parent_id = within.id)"
            f" SELECT {column} FROM within)"
        )

    def above(self, start: str, *, column: str = "id") -> str:
        """Return SQL for one column of the rows of `start` and of all their ancestors, each row once."""
        columns = "n.id, n.parent_id" if column == "id" else f"n.id, n.parent_id, n.{column}"
        return (
            f"(WITH RECURSIVE above AS (SELECT {columns} FROM {self.source} n WHERE {self.scope} AND {start}"
            f" UNION SELECT {columns} FROM above JOIN {self.source} n ON {self.scope} AND n.id = above.parent_id)"
            f" SELECT {column} FROM above)"
        )


def path(tree: Tree, node_id: UUID, *, tenant_id: UUID | None = None) -> tuple[UUID, ...]:
    """Return the ids from a row up to its root, the row itself first; empty if the row does not exist."""
    sql = f"SELECT up.id FROM {tree.up('n.id = %(node)s')} up ORDER BY up.step"
    with connection.cursor() as cursor:
        cursor.execute(sql.replace(TENANT, "%(tenant)s"), {"node": node_id, "tenant": tenant_id})
        return tuple(found for (found,) in cursor.fetchall())


def height(tree: Tree, node_id: UUID, *, tenant_id: UUID | None = None) -> int:
    """Return the number of levels of the subtree below a row, itself included; 1 for a leaf or a new row."""
    sql = f"SELECT coalesce(max(down.step), 1) FROM {tree.down('n.id = %(node)s')} down"
    with connection.cursor() as cursor:
        cursor.execute(sql.replace(TENANT, "%(tenant)s"), {"node": node_id, "tenant": tenant_id})
        ((levels,),) = cursor.fetchall()
    return int(levels)


def lock(name: str, tenant_id: UUID) -> None:
    """Let nobody else change a tenant's tree of this name until the transaction ends: two moves at once could make a cycle."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [f"{name} {tenant_id}"])
