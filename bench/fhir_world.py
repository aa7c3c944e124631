"""What `./dev bench fhir` needs of the database: tenants with a caller each, counts, ids to ask for, fresh statistics.

    python -m bench.fhir_world tenants --count 4

Each verb prints JSON.
"""

import argparse
import json
from typing import Any

from .place import setup_django
from .population import token_of

SLUG = "bench-clinic"
SAMPLE = 400


def tenants(count: int) -> list[dict[str, str]]:
    """Make the tenants that are missing; each with a nurse's token, which lives ten minutes."""
    from core.actor import system_actor
    from core.clock import now
    from core.db import tenant_context
    from organizations.actions import memberships, provisioning
    from organizations.actions.provisioning import TenantSpec
    from organizations.models import Membership, Tenant, User

    found = []
    for number in range(count):
        slug = f"{SLUG}-{number}"
        tenant = Tenant.objects.filter(slug=slug).first()
        if tenant is None:
            spec = TenantSpec(slug=slug, name=slug.title(), kinds=("provider",))
            tenant = provisioning.provision_tenant(actor=provisioning.platform_actor(), spec=spec, at=now()).tenant
        person, _ = User.objects.get_or_create(email=f"{slug}@bench.example", defaults={"name": slug})
        if not Membership.objects.using("platform").filter(tenant=tenant, user=person).exists():
            with tenant_context(tenant.id):
                terms = memberships.Terms(roles=("nurse",))
                memberships.add_member(actor=system_actor(tenant.id), user=person, terms=terms, at=now())
        token = token_of(person, tenant_id=tenant.id)
        found.append({"tenant": str(tenant.id), "token": token})
    return found


def counts() -> dict[str, int]:
    """How many resources of each type there are, in all tenants."""
    from django.db import connections

    from fhir_api.resources.types import NAMES

    with connections["platform"].cursor() as cursor:
        cursor.execute("SELECT type, count(*) FROM fhir_api_resource WHERE NOT deleted GROUP BY type ORDER BY type")
        return {NAMES[kind]: number for kind, number in cursor.fetchall()}


def settle() -> dict[str, str]:
    """Do what autovacuum does soon after an import; tell how large the tables became."""
    from django.apps import apps
    from django.db import connections

    sizes = {}
    with connections["owner"].cursor() as cursor:
        for model in apps.get_app_config("fhir_api").get_models():
            table = model._meta.db_table
            cursor.execute(f"VACUUM (ANALYZE) {table}")
            cursor.execute("SELECT pg_size_pretty(pg_total_relation_size(%s::regclass))", [table])
            sizes[table] = cursor.fetchone()[0]
    return sizes


def sample(tenant: str) -> dict[str, Any]:
    """Ids and values of one tenant to ask for."""
    from django.db import connections

    from fhir_api.resources.types import NUMBERS

    bodies = (
        "SELECT fhir_id, body FROM fhir_api_resource WHERE tenant_id = %s AND type = %s AND NOT deleted"
        " ORDER BY target_key LIMIT %s"
    )
    found: dict[str, Any] = {}
    with connections["platform"].cursor() as cursor:
        for kind in ("Patient", "Observation", "Encounter", "Organization"):
            cursor.execute(bodies, [tenant, NUMBERS[kind], SAMPLE])
            found[kind] = [fhir_id for fhir_id, _ in cursor.fetchall()]
        cursor.execute(bodies, [tenant, NUMBERS["Patient"], SAMPLE])
        patients = [json.loads(body) for _, body in cursor.fetchall()]
        cursor.execute(bodies, [tenant, NUMBERS["Observation"], SAMPLE])
        found["observations"] = [json.loads(body) for _, body in cursor.fetchall()]
    found["identifiers"] = [
        f"{one.get('system', '')}|{one['value']}" for patient in patients for one in patient["identifier"][:1]
    ]
    found["families"] = sorted({name["family"] for patient in patients for name in patient["name"][:1]})
    return found


def main() -> None:
    """Run one verb."""
    reader = argparse.ArgumentParser()
    reader.add_argument("verb", choices=("tenants", "counts", "settle", "sample"))
    reader.add_argument("--count", type=int, default=4)
    reader.add_argument("--tenant", default="")
    wanted = reader.parse_args()
    setup_django()
    verbs = {
        "tenants": lambda: tenants(wanted.count),
        "counts": counts,
        "settle": settle,
        "sample": lambda: sample(wanted.tenant),
    }
    print(json.dumps(verbs[wanted.verb]()))


if __name__ == "__main__":
    main()
