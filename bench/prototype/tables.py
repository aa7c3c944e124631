"""The prototype's tables, filled from the product's, so that both answer of the same rows.

python -m bench.prototype.tables
"""

import json

from bench.place import setup_django

_MAKE = """
DROP SCHEMA IF EXISTS prototype CASCADE;
CREATE SCHEMA prototype;
SET search_path = prototype, public;
CREATE TABLE membership (subject_id uuid, tenant_id uuid, status text, scopes text[]);
INSERT INTO membership SELECT user_id, tenant_id, status, ARRAY['catalog:read', 'catalog:write']
  FROM organizations_membership WHERE user_id IS NOT NULL;
CREATE UNIQUE INDEX ON membership (subject_id, tenant_id);
CREATE TABLE tenant AS SELECT id, status = 'active' AS active FROM organizations_tenant;
CREATE UNIQUE INDEX ON tenant (id);
CREATE TABLE product AS SELECT id, tenant_id, name, supplier_sku, category, status AS availability, description,
  attributes, version, created_at, updated_at FROM suppliers_product;
ALTER TABLE product ADD PRIMARY KEY (id);
CREATE INDEX ON product (tenant_id, updated_at DESC, id DESC);
CREATE INDEX ON product (tenant_id, category, updated_at DESC, id DESC);
CREATE UNIQUE INDEX ON product (tenant_id, supplier_sku);
CREATE TABLE counter AS SELECT tenant_id, count(*) AS n FROM product GROUP BY tenant_id;
CREATE UNIQUE INDEX ON counter (tenant_id);
CREATE TABLE idempotency (tenant_id uuid, subject text, key text, fingerprint bytea, status int, body bytea,
  created_at timestamptz DEFAULT now(), PRIMARY KEY (tenant_id, subject, key));
CREATE TABLE outbox (id uuid PRIMARY KEY DEFAULT uuidv7(), tenant_id uuid NOT NULL, kind text NOT NULL,
  payload jsonb NOT NULL, created_at timestamptz DEFAULT now());
GRANT USAGE ON SCHEMA prototype TO hp_platform;
GRANT ALL ON ALL TABLES IN SCHEMA prototype TO hp_platform;
RESET search_path
"""


def fill() -> int:
    """Make the tables unless they hold every product there was; return how many products they hold."""
    from django.db import connections

    with connections["owner"].cursor() as cursor:
        cursor.execute("SELECT to_regclass('prototype.outbox') IS NOT NULL")
        if not cursor.fetchone()[0]:
            for statement in _MAKE.split(";"):
                cursor.execute(statement)
            cursor.execute("ANALYZE")
        cursor.execute("SELECT count(*) FROM prototype.product")
        return int(cursor.fetchone()[0])


if __name__ == "__main__":
    setup_django()
    print(json.dumps({"products": fill()}))
