"""Whether a supplier may sell: what hides all its offers at once. Source: contract, supply.md 3.6."""


def sells_sql(tenant: str) -> str:
    """Write the condition that a supplier, whose id is given as SQL, may take new orders: its tenant is active."""
    return f"(SELECT w.status = 'active' FROM organizations_tenant w WHERE w.id = {tenant})"
