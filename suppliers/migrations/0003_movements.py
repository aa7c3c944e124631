"""Makes the ledger of stock movements, cut into months.

Until the upkeep has made months ahead, rows lie in the default partition.
Safe: the table is new.
"""

import django.db.models.functions.datetime
from django.db import migrations, models

import core.clock
import core.ids

MOVEMENTS = """
CREATE TABLE suppliers_stockmovement (
  id uuid NOT NULL,
  created_at timestamptz NOT NULL DEFAULT statement_timestamp(),
  tenant_id uuid NOT NULL,
  product_id uuid NOT NULL,
  location_id uuid NOT NULL,
  level_id uuid NOT NULL,
  lot_id uuid,
  lot_number varchar(20) NOT NULL,
  type varchar(12) NOT NULL,
  quantity bigint NOT NULL CHECK (quantity <> 0),
  balance_after bigint NOT NULL CHECK (balance_after >= 0),
  reason_code varchar(11) NOT NULL,
  reference_type varchar(20) NOT NULL,
  reference_id uuid NOT NULL,
  reference_text varchar(120) NOT NULL,
  note varchar(500) NOT NULL,
  reversal_of uuid,
  actor_id uuid NOT NULL,
  actor_kind varchar(10) NOT NULL,
  PRIMARY KEY (created_at, id)
) PARTITION BY RANGE (created_at)
"""
EVERYBODY = "PUBLIC, hp_app, hp_dispatcher, hp_runtime, hp_platform"
REASONS = ["receipt", "count", "damaged", "expired", "lost", "found", "theft", "sample", "destroyed", "correction", "return"]
TYPES = ["receipt", "adjustment", "count", "transfer_in", "transfer_out", "shipment", "return_in", "dispense", "disposal"]


def choices(values):
    """As Django writes the choices of a TextChoices."""
    return [(value, value.replace("_", " ").title()) for value in values]


class Migration(migrations.Migration):
    """One table."""

    dependencies = [("suppliers", "0002_reservations"), ("webhooks", "0006_history_functions")]

    operations = [
        migrations.SeparateDatabaseAndState(
            database_operations=[
                migrations.RunSQL(
                    [
                        MOVEMENTS,
                        "CREATE TABLE suppliers_stockmovement_rest PARTITION OF suppliers_stockmovement DEFAULT",
                        f"REVOKE ALL ON suppliers_stockmovement_rest FROM {EVERYBODY}",
                        "CREATE INDEX suppliers_movement_by_time ON suppliers_stockmovement (tenant_id, created_at, id)",
                        "CREATE INDEX suppliers_movement_by_product"
                        " ON suppliers_stockmovement (tenant_id, product_id, created_at, id)",
                    ],
                    ["DROP TABLE suppliers_stockmovement"],
                )
            ],
            state_operations=[
                migrations.CreateModel(
                    name="StockMovement",
                    fields=[
                        (
                            "id",
                            models.UUIDField(default=core.ids.uuid7, editable=False, primary_key=True, serialize=False),
                        ),
                        (
                            "created_at",
                            models.DateTimeField(
                                db_default=django.db.models.functions.datetime.Now(), default=core.clock.now
                            ),
                        ),
                        ("tenant_id", models.UUIDField()),
                        ("product_id", models.UUIDField()),
                        ("location_id", models.UUIDField()),
                        ("level_id", models.UUIDField()),
                        ("lot_id", models.UUIDField(null=True)),
                        ("lot_number", models.CharField(blank=True, max_length=20)),
                        ("type", models.CharField(choices=choices(TYPES), max_length=12)),
                        ("quantity", models.BigIntegerField()),
                        ("balance_after", models.BigIntegerField()),
                        ("reason_code", models.CharField(blank=True, choices=choices(REASONS), max_length=11)),
                        ("reference_type", models.CharField(max_length=20)),
                        ("reference_id", models.UUIDField()),
                        ("reference_text", models.CharField(blank=True, max_length=120)),
                        ("note", models.CharField(blank=True, max_length=500)),
                        ("reversal_of", models.UUIDField(null=True)),
                        ("actor_id", models.UUIDField()),
                        ("actor_kind", models.CharField(max_length=10)),
                    ],
                    options={
                        "indexes": [
                            models.Index(fields=["tenant_id", "created_at", "id"], name="suppliers_movement_by_time"),
                            models.Index(
                                fields=["tenant_id", "product_id", "created_at", "id"],
                                name="suppliers_movement_by_product",
                            ),
                        ]
                    },
                )
            ],
        )
    ]
