"""The worker of `bench/reports.py`: writes one report of many movements, and prints what it took as JSON.

    python -m bench.reports_child --rows 1000000 --format csv

The supplier and its movements are made once and kept.
"""

import argparse
import json
import resource
import tempfile
import time
from typing import Any, Final
from uuid import UUID

from .place import setup_django

_MOVEMENTS: Final = """
INSERT INTO suppliers_stockmovement (id, created_at, tenant_id, product_id, location_id, level_id, lot_number, type, quantity,
  balance_after, reason_code, reference_type, reference_id, reference_text, note, actor_id, actor_kind)
SELECT uuidv7(), now() - interval '1 day' + n * interval '50 milliseconds' * (1000000.0 / %(rows)s), %(tenant)s, %(product)s,
  %(location)s, %(product)s, '', 'receipt', 1, n, '', 'bench', %(product)s, 'BENCH-' || n, '', %(product)s, 'system'
FROM generate_series(1, %(rows)s) n
"""


def _supplier(rows: int) -> UUID:
    """Return a supplier with so many movements."""
    from django.db import connections

    from core.clock import now
    from organizations.actions import provisioning
    from organizations.actions.provisioning import TenantSpec
    from organizations.models import Tenant

    slug = f"bench-reports-{rows}"
    found = Tenant.objects.using("owner").filter(slug=slug).first()
    if found is not None:
        return found.id
    spec = TenantSpec(slug=slug, name="Bench reports", kinds=("supplier",), organization_id=None, plan="", fields={})
    tenant = provisioning.provision_tenant(actor=provisioning.platform_actor(), spec=spec, at=now()).tenant
    given = {"rows": rows, "tenant": tenant.id, **_goods(tenant.id)}
    with connections["owner"].cursor() as cursor:
        cursor.execute("SET statement_timeout = 0")
        cursor.execute(_MOVEMENTS, given)
        cursor.execute("ANALYZE suppliers_stockmovement")
    return tenant.id


def _goods(tenant_id: UUID) -> dict[str, UUID]:
    """Make a product and a location."""
    from core.db import tenant_context
    from organizations.models import Location
    from suppliers.catalog.models import Product

    with tenant_context(tenant_id):
        product = Product.objects.create(
            tenant_id=tenant_id, supplier_sku="BENCH", name="Nitrile gloves, size M", category="gloves", base_unit="EA"
        )
        location = Location.objects.create(tenant_id=tenant_id, name="Hall 1", type="warehouse")
    return {"product": product.id, "location": location.id}


def _written(tenant_id: UUID, form: str) -> dict[str, Any]:
    """Ask for a report and do all its work; return the seconds, and by how many bytes this process has grown."""
    from core.clock import now
    from core.db import tenant_context
    from suppliers.analytics.reports import worker
    from suppliers.analytics.reports.models import Report
    from suppliers.files.models import File

    at = now()
    with tenant_context(tenant_id):
        report = Report.objects.create(
            tenant_id=tenant_id,
            type="movements",
            format=form,
            as_of=at,
            started_by=tenant_id,
            created_at=at,
            updated_at=at,
        )
    time.sleep(0.01)
    before, started, reading = _peak(), time.monotonic(), 0.0
    while report.status in ("queued", "running"):
        worker.advance(tenant_id, report.id, at=now())
        with tenant_context(tenant_id):
            report = Report.objects.get(tenant_id=tenant_id, id=report.id)
        if report.read_at is None or not reading:
            reading = time.monotonic() - started
    took = {"seconds": time.monotonic() - started, "reading": reading, "grown": _peak() - before}
    with tenant_context(tenant_id):
        return {
            **took,
            "bytes": File.objects.get(tenant_id=tenant_id, id=report.file_id).size,
            "rows": report.rows_done,
        }


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def main() -> None:
    """Write the report, and print what it took."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--format", choices=("csv", "json", "xlsx"), default="csv")
    wanted = parser.parse_args()
    setup_django()
    from django.conf import settings

    tenant_id = _supplier(wanted.rows)
    with tempfile.TemporaryDirectory(prefix="bench-reports-") as folder:
        options = {**settings.STORAGES["files"].get("OPTIONS", {}), "location": folder}
        settings.STORAGES = {**settings.STORAGES, "files": {**settings.STORAGES["files"], "OPTIONS": options}}
        print(json.dumps(_written(tenant_id, wanted.format)))


if __name__ == "__main__":
    main()
