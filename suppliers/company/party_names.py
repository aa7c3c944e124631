"""SQL of the names of both parties of a document."""

from core.conditions import TENANT

_NAME = "(SELECT n.name FROM organizations_tenant n WHERE n.id = {0})"


def party_name_sql(column: str) -> str:
    """Write the name of the tenant in a column of the row `t`; that of the reader is looked up once, not for each row."""
    return f"CASE WHEN t.{column} = {TENANT} THEN {_NAME.format(TENANT)} ELSE {_NAME.format(f't.{column}')} END"
