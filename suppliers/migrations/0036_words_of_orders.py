"""Search terms of orders for both parties and the number of each supplier's orders, kept by triggers and filled from what there is.

Safe: the tables are new. CREATE TRIGGER lets nobody write orders until the migration ends, so that nothing is missed or counted twice;
that takes about as long as to read all orders twice. The release before goes on: the triggers keep the terms of what it writes.
"""

from typing import ClassVar

from django.db import migrations, models

KINDS = [
    ("purchase_order", "Order of the tenant as buyer"),
    ("order", "Order to the tenant as supplier"),
    ("delivery", "Delivery to the tenant"),
]

# Words as `core.text_folding` folds them; no function of it depends on anything but the text.
FUNCTIONS = r"""
CREATE FUNCTION suppliers_words(texts text) RETURNS text[] LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT coalesce(array_agg(DISTINCT left(n.word, 64)), '{}') FROM regexp_split_to_table(
    regexp_replace(replace(normalize(lower(texts), NFKD), 'ß', 'ss'), '[\u0300-\u036f]', '', 'g'), '[^[:alnum:]]+') n(word)
  WHERE n.word <> ''
$$;
CREATE FUNCTION suppliers_keep_words(owner uuid, what text, document uuid, party uuid, texts text) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE wanted text[] := suppliers_words(texts);
BEGIN
  DELETE FROM suppliers_documentword w WHERE w.tenant_id = owner AND w.kind = what AND w.document_id = document
    AND (w.word <> ALL (wanted) OR w.party_id <> party);
  INSERT INTO suppliers_documentword (tenant_id, kind, word, document_id, party_id)
    SELECT owner, what, n.word, document, party FROM unnest(wanted) n(word) ON CONFLICT DO NOTHING;
END $$;
CREATE FUNCTION suppliers_words_of_order() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM suppliers_keep_words(NEW.tenant_id, 'purchase_order', NEW.id, NEW.supplier_tenant_id,
    NEW.number || ' ' || NEW.order_number || ' ' || NEW.external_reference);
  RETURN NULL;
END $$;
CREATE FUNCTION suppliers_words_of_received() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM suppliers_keep_words(NEW.tenant_id, 'order', NEW.id, NEW.owner_tenant_id, NEW.number || ' ' || NEW.po_number);
  RETURN NULL;
END $$;
CREATE FUNCTION suppliers_count_received() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO suppliers_receivedordercounter AS c (tenant_id, orders) VALUES (NEW.tenant_id, 1)
    ON CONFLICT (tenant_id) DO UPDATE SET orders = c.orders + 1;
  RETURN NULL;
END $$;
"""
TRIGGERS = """
CREATE TRIGGER suppliers_po_words AFTER INSERT ON suppliers_purchaseorder
  FOR EACH ROW EXECUTE FUNCTION suppliers_words_of_order();
CREATE TRIGGER suppliers_po_words_changed AFTER UPDATE OF number, order_number, external_reference, supplier_tenant_id
  ON suppliers_purchaseorder FOR EACH ROW WHEN ((OLD.number, OLD.order_number, OLD.external_reference, OLD.supplier_tenant_id)
  IS DISTINCT FROM (NEW.number, NEW.order_number, NEW.external_reference, NEW.supplier_tenant_id))
  EXECUTE FUNCTION suppliers_words_of_order();
CREATE TRIGGER suppliers_recorder_words AFTER INSERT ON suppliers_receivedorder
  FOR EACH ROW EXECUTE FUNCTION suppliers_words_of_received();
CREATE TRIGGER suppliers_recorder_words_changed AFTER UPDATE OF number, po_number, owner_tenant_id
  ON suppliers_receivedorder FOR EACH ROW WHEN ((OLD.number, OLD.po_number, OLD.owner_tenant_id)
  IS DISTINCT FROM (NEW.number, NEW.po_number, NEW.owner_tenant_id)) EXECUTE FUNCTION suppliers_words_of_received();
CREATE TRIGGER suppliers_recorder_counted AFTER INSERT ON suppliers_receivedorder
  FOR EACH ROW EXECUTE FUNCTION suppliers_count_received();
"""
COUNT = (
    "INSERT INTO suppliers_receivedordercounter (tenant_id, orders)"
    " SELECT tenant_id, count(*) FROM suppliers_receivedorder GROUP BY 1"
)
FILL = """
INSERT INTO suppliers_documentword (tenant_id, kind, word, document_id, party_id)
SELECT t.tenant_id, 'purchase_order', n.word, t.id, t.supplier_tenant_id FROM suppliers_purchaseorder t
CROSS JOIN LATERAL unnest(suppliers_words(t.number || ' ' || t.order_number || ' ' || t.external_reference)) n(word)
UNION ALL SELECT t.tenant_id, 'order', n.word, t.id, t.owner_tenant_id FROM suppliers_receivedorder t
CROSS JOIN LATERAL unnest(suppliers_words(t.number || ' ' || t.po_number)) n(word) ON CONFLICT DO NOTHING
"""
BACKWARD = """
DROP TRIGGER suppliers_po_words ON suppliers_purchaseorder;
DROP TRIGGER suppliers_po_words_changed ON suppliers_purchaseorder;
DROP TRIGGER suppliers_recorder_words ON suppliers_receivedorder;
DROP TRIGGER suppliers_recorder_words_changed ON suppliers_receivedorder;
DROP TRIGGER suppliers_recorder_counted ON suppliers_receivedorder;
DROP FUNCTION suppliers_count_received(), suppliers_words_of_order(), suppliers_words_of_received(), suppliers_keep_words(uuid, text, uuid, uuid, text),
  suppliers_words(text);
"""


class Migration(migrations.Migration):
    """Two tables, the triggers that keep them, and their rows."""

    dependencies: ClassVar = [("suppliers", "0035_market_of_one_supplier")]

    operations: ClassVar = [
        migrations.CreateModel(
            name="DocumentWord",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "tenant_id",
                        "kind",
                        "word",
                        "document_id",
                        blank=True,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("tenant_id", models.UUIDField()),
                ("kind", models.CharField(choices=KINDS, max_length=14)),
                ("word", models.CharField(db_collation="C", max_length=64)),
                ("document_id", models.UUIDField()),
                ("party_id", models.UUIDField()),
            ],
            options={
                "indexes": [models.Index(fields=["tenant_id", "kind", "document_id"], name="suppliers_documentword_of")]
            },
        ),
        migrations.CreateModel(
            name="ReceivedOrderCounter",
            fields=[
                ("tenant_id", models.UUIDField(primary_key=True, serialize=False)),
                ("orders", models.PositiveBigIntegerField()),
            ],
        ),
        migrations.RunSQL([FUNCTIONS, TRIGGERS], BACKWARD),
        migrations.RunSQL([FILL, COUNT], migrations.RunSQL.noop),
    ]
