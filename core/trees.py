"""Trees in the database: tables whose rows name the row above them by `parent_id`, walked by recursive queries.

The pieces of SQL are sub-selects for the FROM or IN of a statement. `start` is a condition on a row `n` of the tree, whose
values the caller passes in its own way: `n.id = %s`, `n.id = $1`, `n.parent_id = {0}::uuid`.
"""

from dataclasses import dataclass
from uuid import UUID

from django.db import connection


@dataclass(frozen=True, slots=True)
class Tree:
    """A tree: `source` is its table or a sub-select, `scope` a condition on its rows `n`.

    `most` ends a walk that counts steps, so that it ends even in a tree that was broken by hand.
    """

    source: str
    most: int
    scope: str = "true"

    def up(self, start: str) -> str:
        """The rows of `start` and those above them, as `id` and `step`; the start is step 1."""
        return (
            f"(WITH RECURSIVE up AS (SELECT n.id, n.parent_id, 1 AS step FROM {self.source} n"
            f" WHERE {self.scope} AND {start}"
            f" UNION ALL SELECT n.id, n.parent_id, up.step + 1 FROM up JOIN {self.source} n"
            f" ON {self.scope} AND n.id = up.parent_id WHERE up.step < {self.most}) SELECT id, step FROM up)"
        )

    def down(self, start: str, *, most: str = "") -> str:
        """The rows of `start` and those below them, as `id` and `step`, down to a number of steps."""
        return (
            f"(WITH RECURSIVE down AS (SELECT n.id, 1 AS step FROM {self.source} n WHERE {self.scope} AND {start}"
            f" UNION ALL SELECT n.id, down.step + 1 FROM down JOIN {self.source} n"
            f" ON {self.scope} AND n.parent_id = down.id WHERE down.step < {most or self.most}) SELECT id, step FROM down)"
        )

    def within(self, start: str, *, column: str = "id") -> str:
        """One column of the rows of `start` and of all below them, each row once, however deep."""
        columns = "n.id" if column == "id" else f"n.id, n.{column}"
        return (
            f"(WITH RECURSIVE within AS (SELECT {columns} FROM {self.source} n WHERE {self.scope} AND {start}"
            f" UNION SELECT {columns} FROM within JOIN {self.source} n ON {self.scope} AND n.parent_id = within.id)"
            f" SELECT {column} FROM within)"
        )


def path(tree: Tree, node_id: UUID) -> tuple[UUID, ...]:
    """The ids from a row up to its root, the row itself first; empty for a row that is not there."""
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT up.id FROM {tree.up('n.id = %s')} up ORDER BY up.step", [node_id])
        return tuple(found for (found,) in cursor.fetchall())


def height(tree: Tree, node_id: UUID) -> int:
    """How many levels a row and those below it make; 1 for a leaf, and for a row that is not there yet."""
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT coalesce(max(down.step), 1) FROM {tree.down('n.id = %s')} down", [node_id])
        ((levels,),) = cursor.fetchall()
    return int(levels)
