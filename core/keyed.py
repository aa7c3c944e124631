"""Rows of one tenant whose ids are in a list, each looked up by its key.

The primary key of a tenant's table is `(tenant_id, id)`. For `id = ANY(…)` PostgreSQL takes it for no better than any other index
that begins with the tenant and ends with the id, and may read all of the tenant's entries there. Here OFFSET 0 leaves it no
choice: a nested loop over the list, a look-up for each id. Source: decision 129.
"""


def keyed(table: str, ids: str, *, alias: str, tenant: str = "$1", where: str = "", lock: str = "") -> str:
    """Write the FROM of a tenant's rows, in the order of their ids, in which they are locked as well.

    :param ids: a query of one column; an id that comes twice is taken once.
    :param where: further conditions of the row `o`, beginning with AND.
    :param lock: a locking clause, such as `FOR UPDATE`.
    """
    return (
        f"(SELECT DISTINCT n.id FROM ({ids}) AS n (id) ORDER BY n.id) AS named CROSS JOIN LATERAL (SELECT * FROM {table} o"
        f" WHERE o.tenant_id = {tenant} AND o.id = named.id{f' {where}' if where else ''} OFFSET 0{f' {lock}' if lock else ''}) AS {alias}"
    )
