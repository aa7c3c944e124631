"""Who calls in `./dev bench supply`: a member of each seeded supplier, and one buyer, with fresh tokens.

    python -m bench.supply_world --tenants 1000

Prints JSON. Tokens live ten minutes, so each round asks anew.
"""

import argparse
import json
from typing import Any

from .place import setup_django
from .population import callers, token_of

BUYER = "bench-buyer"


def _skus(tenants: list[str]) -> dict[str, str]:
    """The number in the first SKU of each tenant."""
    from django.db import connections

    sql = (
        "SELECT t.id::text, (SELECT substr(min(p.supplier_sku), 5) FROM suppliers_product p WHERE p.tenant_id = t.id"
        " AND p.supplier_sku LIKE 'SKU-%%' AND p.archived_at IS NULL) FROM unnest(%s::uuid[]) t (id)"
    )
    with connections["owner"].cursor() as cursor:
        cursor.execute(sql, [tenants])
        return dict(cursor.fetchall())


def _buyer() -> dict[str, str]:
    """A hospital that buys, made once, and a token of its member."""
    from core.actor import system_actor
    from core.clock import now
    from core.db import tenant_context
    from organizations.actions import memberships, provisioning
    from organizations.actions.provisioning import TenantSpec
    from organizations.models import Tenant, User

    tenant = Tenant.objects.using("owner").filter(slug=BUYER).first()
    if tenant is None:
        spec = TenantSpec(
            slug=BUYER, name="Bench hospital", kinds=("provider",), organization_id=None, plan="", fields={}
        )
        tenant = provisioning.provision_tenant(actor=provisioning.platform_actor(), spec=spec, at=now()).tenant
        person = User.objects.create_user(f"{BUYER}@bench.example", None, name="Bench buyer")
        with tenant_context(tenant.id):
            terms = memberships.Terms(roles=("buyer",))
            memberships.add_member(actor=system_actor(tenant.id), user=person, terms=terms, at=now())
    person = User.objects.using("owner").get(email=f"{BUYER}@bench.example")
    return {"tenant": str(tenant.id), "token": token_of(person, tenant_id=tenant.id)}


def main() -> None:
    """Print them."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--tenants", type=int, default=1_000)
    wanted = parser.parse_args()
    setup_django()
    suppliers: list[dict[str, Any]] = callers(wanted.tenants)
    skus = _skus([one["tenant"] for one in suppliers])
    for one in suppliers:
        one["sku"] = skus[one["tenant"]]
    found = {"tenants": [one["tenant"] for one in suppliers], "suppliers": suppliers, "buyer": _buyer()}
    print(json.dumps(found))


if __name__ == "__main__":
    main()
