"""Cuts the three histories into ranges of created_at, so that old months can be dropped and never need to be deleted.

What there is becomes the default partition. Django's models keep `id` as their key; the database's is (created_at, id).
Safe: it comes with the tables themselves, before anything reads or writes them; each rename is made good in the same
transaction by a table of the old name.
"""

from django.db import migrations

INDEXES = {
    "webhooks_event": ["CREATE INDEX webhooks_event_by_time ON webhooks_event (tenant_id, created_at, id)"],
    "webhooks_delivery": [
        "ALTER TABLE webhooks_delivery ADD CONSTRAINT webhooks_delivery_once UNIQUE (event_id, endpoint_id, created_at)",
        "CREATE INDEX webhooks_delivery_by_id ON webhooks_delivery (id)",
        "CREATE INDEX webhooks_delivery_by_endpoint ON webhooks_delivery (endpoint_id, created_at, id)",
        "CREATE INDEX webhooks_delivery_unfinished ON webhooks_delivery (endpoint_id)"
        " WHERE state IN ('created', 'pending', 'retrying')",
    ],
    "webhooks_attempt": ["CREATE INDEX webhooks_attempt_by_delivery ON webhooks_attempt (delivery_id)"],
}

# Names of all indexes and keys of the plain table go, whatever they are: the parent makes its own on each partition.
STRIP = """
DO $$ DECLARE found record; BEGIN
  FOR found IN SELECT conname FROM pg_constraint WHERE conrelid = '{0}'::regclass AND contype IN ('p', 'u', 'f') LOOP
    EXECUTE format('ALTER TABLE {0} DROP CONSTRAINT %I', found.conname);
  END LOOP;
  FOR found IN SELECT indexrelid::regclass AS name FROM pg_index WHERE indrelid = '{0}'::regclass LOOP
    EXECUTE format('DROP INDEX %s', found.name);
  END LOOP;
  FOR found IN SELECT tgname FROM pg_trigger WHERE tgrelid = '{0}'::regclass AND NOT tgisinternal LOOP
    EXECUTE format('DROP TRIGGER %I ON {0}', found.tgname);
  END LOOP;
END $$
"""


def forwards(table, indexes):
    """The statements that make a plain table the default partition of a new one of its name."""
    return [
        STRIP.format(table),
        f"ALTER TABLE {table} RENAME TO {table}_rest",
        f"REVOKE ALL ON {table}_rest FROM PUBLIC, hp_app, hp_dispatcher, hp_runtime, hp_platform",
        f"CREATE TABLE {table} (LIKE {table}_rest INCLUDING DEFAULTS INCLUDING CONSTRAINTS) PARTITION BY RANGE (created_at)",
        f"ALTER TABLE {table} ATTACH PARTITION {table}_rest DEFAULT",
        f"ALTER TABLE {table} ADD CONSTRAINT {table}_pkey PRIMARY KEY (created_at, id)",
        *indexes,
    ]


def backwards(table, indexes):
    """The statements that copy everything back into a plain table."""
    return [
        f"ALTER TABLE {table} RENAME TO {table}_ranges",
        STRIP.format(f"{table}_ranges"),
        f"CREATE TABLE {table} (LIKE {table}_ranges INCLUDING DEFAULTS INCLUDING CONSTRAINTS)",
        f"INSERT INTO {table} SELECT * FROM {table}_ranges",
        f"DROP TABLE {table}_ranges",
        f"ALTER TABLE {table} ADD CONSTRAINT {table}_pkey PRIMARY KEY (id)",
        *indexes,
    ]


class Migration(migrations.Migration):
    """Partitions for events, deliveries and attempts; and the storage of the two live queues, which are updated a lot."""

    dependencies = [("webhooks", "0001_initial")]

    operations = [
        *(
            migrations.RunSQL(forwards(table, indexes), backwards(table, indexes))
            for table, indexes in INDEXES.items()
        ),
        migrations.RunSQL(
            [
                "ALTER TABLE webhooks_delivery_due SET (fillfactor = 60, autovacuum_vacuum_scale_factor = 0.02,"
                " autovacuum_vacuum_threshold = 500, autovacuum_vacuum_cost_delay = 0)",
                "ALTER TABLE webhooks_event_new SET (autovacuum_vacuum_scale_factor = 0.02,"
                " autovacuum_vacuum_threshold = 500, autovacuum_vacuum_cost_delay = 0)",
                "ALTER TABLE webhooks_delivery_rest SET (fillfactor = 80)",
            ],
            [
                "ALTER TABLE webhooks_delivery_due RESET (fillfactor, autovacuum_vacuum_scale_factor,"
                " autovacuum_vacuum_threshold, autovacuum_vacuum_cost_delay)",
                "ALTER TABLE webhooks_event_new RESET (autovacuum_vacuum_scale_factor,"
                " autovacuum_vacuum_threshold, autovacuum_vacuum_cost_delay)",
                "ALTER TABLE webhooks_delivery_rest RESET (fillfactor)",
            ],
        ),
    ]
