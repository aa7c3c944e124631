"""The day on which what is backordered of a line is expected; search terms of deliveries.

Safe: two nullable columns. The terms are kept by triggers and filled from what
there is: CREATE TRIGGER lets nobody write deliveries until the migration ends, so that nothing is missed; that takes about as long
as to read all deliveries twice. The release before goes on: the triggers keep the terms of what it writes.
"""

from typing import ClassVar

from django.db import migrations, models

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
    """Columns, and the triggers that keep search terms."""

    dependencies: ClassVar = [("suppliers", "0042_analytics")]

    operations: ClassVar = [
        migrations.AddField(model_name="purchaseorderline", name="backorder_date", field=models.DateField(null=True)),
        migrations.AddField(model_name="receivedorderline", name="backorder_date", field=models.DateField(null=True)),
        migrations.RunSQL(FORWARD, BACKWARD),
        migrations.RunSQL([FILL], migrations.RunSQL.noop),
    ]
