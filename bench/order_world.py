"""Who calls in `./dev bench order`: a member of each seeded supplier and of each buyer, with fresh tokens, and how copies are made.

    python -m bench.order_world --suppliers 200 --buyers 100 [--payers]

Prints JSON; with `--payers` each buyer has a second member, of finance, in `payer`. Tokens live ten minutes, so each round asks anew.
"""

import argparse
import json
import re
from typing import Any

from .place import setup_django
from .population import callers, token_of

BUYER = "bench-orders"


def _buyers(count: int, *, with_payers: bool) -> list[dict[str, str]]:
    """Hospitals that buy and receive, each made once, and a token of a member of each; with payers one of a second member, too."""
    from core.clock import now
    from organizations.actions import provisioning
    from organizations.actions.provisioning import TenantSpec
    from organizations.models import Tenant

    slugs = [f"{BUYER}-{number:03d}" for number in range(1, count + 1)]
    present = {one.slug: one for one in Tenant.objects.using("owner").filter(slug__in=slugs)}
    for slug in slugs:
        if slug not in present:
            spec = TenantSpec(
                slug=slug, name=f"Hospital {slug}", kinds=("provider",), organization_id=None, plan="", fields={}
            )
            made = provisioning.provision_tenant(actor=provisioning.platform_actor(), spec=spec, at=now()).tenant
            present[slug] = made
    members = [("token", "", ("buyer", "receiving_clerk"))]
    members += [("payer", "-payer", ("finance",))] if with_payers else []
    found: list[dict[str, str]] = [{"tenant": str(present[slug].id)} for slug in slugs]
    for name, suffix, roles in members:
        for one, slug in zip(found, slugs, strict=True):
            one[name] = _token(present[slug].id, f"{slug}{suffix}@bench.example", roles)
    return found


def _token(tenant_id: Any, email: str, roles: tuple[str, ...]) -> str:
    """A fresh token of a member, who is made where there is none yet."""
    from core.actor import system_actor
    from core.clock import now
    from core.db import tenant_context
    from organizations.actions import memberships
    from organizations.models import User

    person = User.objects.using("owner").filter(email=email).first()
    if person is None:
        person = User.objects.create_user(email, None, name="Bench member")
        with tenant_context(tenant_id):
            terms = memberships.Terms(roles=roles)
            memberships.add_member(actor=system_actor(tenant_id), user=person, terms=terms, at=now())
    return token_of(person, tenant_id=tenant_id)


def _copying(kind: Any, since: str) -> str:
    """The statement that makes the copies of all documents of a kind, as each is made when its document changes."""
    values = kind.values
    named = re.sub(r"\$2(?!\d)", "k.tenant_id", re.sub(r"\$1(?!\d)", "k.id", kind.representation))
    shown = ", ".join(f"({sql})" for sql in values.values())
    return (
        f'INSERT INTO "{kind.copy._meta.db_table}" ({", ".join(values)}, received_at, updated_at)'
        f' SELECT {shown}, {since}, t.updated_at FROM "{kind.document._meta.db_table}" t'
        f" JOIN organizations_tenant n ON n.id = ({kind.party}) CROSS JOIN LATERAL (SELECT t.id, t.tenant_id OFFSET 0) k"
        f" CROSS JOIN LATERAL (SELECT made.body::jsonb FROM ({named}) AS made(body, tag) OFFSET 0) AS shown(body)"
        f" WHERE {kind.handed_over}"
    )


def main() -> None:
    """Print them."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--suppliers", type=int, default=200)
    parser.add_argument("--buyers", type=int, default=100)
    parser.add_argument("--payers", action="store_true")
    wanted = parser.parse_args()
    setup_django()
    from suppliers.invoices.models import INVOICES
    from suppliers.orders.models import ORDERS

    suppliers: list[dict[str, Any]] = callers(wanted.suppliers)
    found = {
        "tenants": [one["tenant"] for one in suppliers],
        "suppliers": suppliers,
        "buyers": _buyers(wanted.buyers, with_payers=wanted.payers),
        "copying": _copying(ORDERS, "t.sent_at"),
        "copying_invoices": _copying(INVOICES, "t.issued_at"),
    }
    print(json.dumps(found))


if __name__ == "__main__":
    main()
