"""Who calls in `./dev bench order`: a member of each seeded supplier and of each buyer, with fresh tokens, and how copies are made.

    python -m bench.order_world --suppliers 200 --buyers 100

Prints JSON. Tokens live ten minutes, so each round asks anew.
"""

import argparse
import json
import re
from typing import Any

from .place import setup_django
from .population import callers, token_of

BUYER = "bench-orders"


def _buyers(count: int) -> list[dict[str, str]]:
    """Hospitals that buy and receive, each made once, and a token of a member of each."""
    from core.actor import system_actor
    from core.clock import now
    from core.db import tenant_context
    from organizations.actions import memberships, provisioning
    from organizations.actions.provisioning import TenantSpec
    from organizations.models import Tenant, User

    slugs = [f"{BUYER}-{number:03d}" for number in range(1, count + 1)]
    present = {one.slug: one for one in Tenant.objects.using("owner").filter(slug__in=slugs)}
    for slug in slugs:
        if slug not in present:
            spec = TenantSpec(
                slug=slug, name=f"Hospital {slug}", kinds=("provider",), organization_id=None, plan="", fields={}
            )
            made = provisioning.provision_tenant(actor=provisioning.platform_actor(), spec=spec, at=now()).tenant
            person = User.objects.create_user(f"{slug}@bench.example", None, name="Bench buyer")
            with tenant_context(made.id):
                terms = memberships.Terms(roles=("buyer", "receiving_clerk"))
                memberships.add_member(actor=system_actor(made.id), user=person, terms=terms, at=now())
            present[slug] = made
    people = {one.email: one for one in User.objects.using("owner").filter(email__startswith=f"{BUYER}-")}
    return [
        {
            "tenant": str(present[slug].id),
            "token": token_of(people[f"{slug}@bench.example"], tenant_id=present[slug].id),
        }
        for slug in slugs
    ]


def _copying() -> str:
    """The statement that makes the copies of all orders, as each is made when its order changes."""
    from suppliers.orders.models import ORDERS

    values = ORDERS.values
    named = re.sub(r"\$2(?!\d)", "k.tenant_id", re.sub(r"\$1(?!\d)", "k.id", ORDERS.representation))
    shown = ", ".join(f"({sql})" for sql in values.values())
    return (
        f'INSERT INTO "{ORDERS.copy._meta.db_table}" ({", ".join(values)}, received_at, updated_at)'
        f' SELECT {shown}, t.sent_at, t.updated_at FROM "{ORDERS.document._meta.db_table}" t'
        f" JOIN organizations_tenant n ON n.id = ({ORDERS.party}) CROSS JOIN LATERAL (SELECT t.id, t.tenant_id OFFSET 0) k"
        f" CROSS JOIN LATERAL ({named} OFFSET 0) AS shown(body, tag) WHERE {ORDERS.handed_over}"
    )


def main() -> None:
    """Print them."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--suppliers", type=int, default=200)
    parser.add_argument("--buyers", type=int, default=100)
    wanted = parser.parse_args()
    setup_django()
    suppliers: list[dict[str, Any]] = callers(wanted.suppliers)
    found = {
        "tenants": [one["tenant"] for one in suppliers],
        "suppliers": suppliers,
        "buyers": _buyers(wanted.buyers),
        "copying": _copying(),
    }
    print(json.dumps(found))


if __name__ == "__main__":
    main()
