"""The day on which what is backordered of a line is expected; files of orders and of the other party; search terms of deliveries.

Safe: two nullable columns, one with a constant default, and a new table. The terms are kept by triggers and filled from what
there is: CREATE TRIGGER lets nobody write deliveries until the migration ends, so that nothing is missed; that takes about as long
as to read all deliveries twice. The release before goes on: the triggers keep the terms of what it writes.
"""

from typing import ClassVar

import django.db.models.deletion
from django.db import migrations, models
from django.db.models.functions import Now

import core.clock
import core.ids

PURPOSES = [
    ("product_image", "Product Image"),
    ("product_document", "Product Document"),
    ("certificate", "Certificate"),
    ("safety_sheet", "Safety Sheet"),
    ("invoice", "Invoice"),
    ("delivery_document", "Delivery Document"),
    ("temperature_log", "Temperature Log"),
    ("report", "Report"),
    ("message", "Message"),
]
TEXTS = "{0}.number || ' ' || {0}.po_number || ' ' || {0}.order_number || ' ' || {0}.tracking_number"
FUNCTION = """
CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM suppliers_keep_words(NEW.tenant_id, 'delivery', NEW.id, NEW.{party}, {texts});
  RETURN NULL;
END $$;
CREATE TRIGGER {table}_words AFTER INSERT ON {table} FOR EACH ROW EXECUTE FUNCTION {name}();
CREATE TRIGGER {table}_words_changed AFTER UPDATE OF number, po_number, order_number, tracking_number, {party}
  ON {table} FOR EACH ROW WHEN ((OLD.number, OLD.po_number, OLD.order_number, OLD.tracking_number, OLD.{party}) IS DISTINCT FROM
  (NEW.number, NEW.po_number, NEW.order_number, NEW.tracking_number, NEW.{party})) EXECUTE FUNCTION {name}();
"""
DROP = "DROP TRIGGER {table}_words ON {table}; DROP TRIGGER {table}_words_changed ON {table}; DROP FUNCTION {name}();"
SIDES = (
    {"table": "suppliers_delivery", "party": "supplier_tenant_id", "name": "suppliers_words_of_delivery"},
    {"table": "suppliers_receiveddelivery", "party": "owner_tenant_id", "name": "suppliers_words_of_received_delivery"},
)
FILL = "INSERT INTO suppliers_documentword (tenant_id, kind, word, document_id, party_id) {} ON CONFLICT DO NOTHING".format(
    " UNION ALL ".join(
        f"SELECT t.tenant_id, 'delivery', n.word, t.id, t.{one['party']} FROM {one['table']} t"
        f" CROSS JOIN LATERAL unnest(suppliers_words({TEXTS.format('t')})) n(word)"
        for one in SIDES
    )
)
FORWARD = [FUNCTION.format(**one, texts=TEXTS.format("NEW")) for one in SIDES]
BACKWARD = [*(DROP.format(**one) for one in SIDES), "DELETE FROM suppliers_documentword WHERE kind = 'delivery'"]


class Migration(migrations.Migration):
    """Columns, a table, and the triggers that keep search terms."""

    dependencies: ClassVar = [("organizations", "0011_managed_tenants"), ("suppliers", "0044_invoices_to_settle")]

    operations: ClassVar = [
        migrations.AddField(model_name="purchaseorderline", name="backorder_date", field=models.DateField(null=True)),
        migrations.AddField(model_name="receivedorderline", name="backorder_date", field=models.DateField(null=True)),
        migrations.AddField(
            model_name="purchaseorder", name="files", field=models.JSONField(db_default=[], default=list)
        ),
        migrations.CreateModel(
            name="ReceivedFile",
            fields=[
                ("updated_at", models.DateTimeField(db_default=Now(), default=core.clock.now)),
                ("version", models.PositiveIntegerField(db_default=1, default=1)),
                (
                    "id",
                    models.UUIDField(default=core.ids.uuid7, editable=False, primary_key=True, serialize=False),
                ),
                ("created_at", models.DateTimeField(db_default=Now(), default=core.clock.now, editable=False)),
                ("owner_tenant_id", models.UUIDField()),
                ("file_id", models.UUIDField()),
                ("name", models.CharField(max_length=255)),
                ("purpose", models.CharField(choices=PURPOSES, max_length=20)),
                ("content_type", models.CharField(max_length=80)),
                ("size", models.BigIntegerField()),
                ("sha256", models.CharField(max_length=64)),
                ("title", models.CharField(blank=True, max_length=255)),
                ("expires_on", models.DateField(null=True)),
                (
                    "tenant",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="organizations.tenant",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("tenant", "file_id"), name="suppliers_receivedfile_once")
                ]
            },
        ),
        migrations.RunSQL(FORWARD, BACKWARD),
        migrations.RunSQL([FILL], migrations.RunSQL.noop),
    ]
