"""Who calls in a benchmark: one person and one API key in each seeded tenant, with fresh tokens and ids of products.

    python -m bench.population --tenants 1000

Prints JSON. The members are made once; tokens live ten minutes, so each run asks anew.
"""

import argparse
import json
import time
from typing import Any

from .place import setup_django

SLUG = "bench-supplier"
PRODUCTS_OF_EACH = 20


def _people(tenants: list[Any]) -> list[Any]:
    from organizations.models import Membership, User

    users = User.objects.using("owner")
    emails = [f"{tenant.slug}@bench.example" for tenant in tenants]
    present = set(users.filter(email__in=emails).values_list("email", flat=True))
    users.bulk_create(User(email=email, password="!") for email in emails if email not in present)
    found = {user.email: user for user in users.filter(email__in=emails)}
    people = [found[email] for email in emails]
    members = Membership.objects.using("owner")
    held = set(members.filter(tenant__in=tenants, user__isnull=False).values_list("tenant_id", flat=True))
    members.bulk_create(
        Membership(tenant=tenant, user=person, roles=["supplier_admin"], status="active")
        for tenant, person in zip(tenants, people, strict=True)
        if tenant.id not in held
    )
    return people


def token_of(person: Any, *, tenant_id: Any = None) -> str:
    """A person's access token, as a sign-in gives it; bound to a tenant where one is named."""
    from core.actor import SubjectKind
    from core.clock import now
    from core.ids import uuid7
    from organizations import tokens

    return tokens.issue_access_token(
        subject_id=person.id,
        subject_kind=SubjectKind.USER,
        client_id=tokens.FIRST_PARTY_CLIENT,
        scopes=None,
        session_id=uuid7(),
        acr="password",
        amr=("pwd",),
        authenticated_at=now(),
        tenant_id=tenant_id,
        at=now(),
    )


def _stock_token(person: Any) -> str:
    """A token as simplejwt makes it for `bench.stock_settings`."""
    import jwt
    from django.conf import settings

    claims = {"token_type": "access", "user_id": str(person.id), "jti": "bench", "exp": int(time.time()) + 3600}
    return jwt.encode(claims, settings.SECRET_KEY, "HS256")


def _products(tenant_ids: list[Any]) -> dict[str, list[str]]:
    from django.db import connections

    sql = (
        "SELECT t.id::text, array(SELECT p.id::text FROM suppliers_product p WHERE p.tenant_id = t.id"
        " AND p.archived_at IS NULL ORDER BY p.updated_at LIMIT %s) FROM unnest(%s::uuid[]) t (id)"
    )
    with connections["owner"].cursor() as cursor:
        cursor.execute(sql, [PRODUCTS_OF_EACH, tenant_ids])
        return dict(cursor.fetchall())


def callers(tenants: int) -> list[dict[str, Any]]:
    """Every tenant's caller: tenant, user, membership, tokens of ours and of the stock view, some product ids."""
    from organizations.models import Membership, Tenant

    rows = list(Tenant.objects.using("owner").filter(slug__startswith=f"{SLUG}-").order_by("slug")[:tenants])
    people = _people(rows)
    members = dict(
        Membership.objects.using("owner").filter(tenant__in=rows, user__in=people).values_list("user_id", "id")
    )
    products = _products([row.id for row in rows])
    return [
        {
            "tenant": str(row.id),
            "user": str(person.id),
            "membership": str(members[person.id]),
            "token": token_of(person),
            "stock_token": _stock_token(person),
            "products": products[str(row.id)],
        }
        for row, person in zip(rows, people, strict=True)
    ]


def main() -> None:
    """Print the callers."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--tenants", type=int, default=1_000)
    wanted = parser.parse_args()
    setup_django()
    print(json.dumps(callers(wanted.tenants)))


if __name__ == "__main__":
    main()
