"""What endpoints wanted and when, kept by a trigger; and the count of endpoints in their quota, which was never consumed.

Safe: a new table that is filled with one row for each active endpoint, of which a tenant has a hundred; one quota row of
each tenant is counted anew, and a hard limit below what the tenant has is raised to it.
"""

import django.contrib.postgres.fields
from django.db import migrations, models

import core.ids

# An ended row is kept while an event of its time may still be matched: one that waits in the queue, or one of a
# transaction that has not committed yet, which lasts minutes at most.
KEEP = """
CREATE OR REPLACE FUNCTION hp_keep_subscription() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE instant timestamptz := clock_timestamp(); oldest timestamptz;
BEGIN
  IF TG_OP = 'UPDATE' THEN
    UPDATE webhooks_subscription SET ends_at = instant
     WHERE tenant_id = NEW.tenant_id AND endpoint_id = NEW.id AND ends_at IS NULL;
    SELECT created_at INTO oldest FROM webhooks_event_new WHERE tenant_id = NEW.tenant_id ORDER BY id LIMIT 1;
    DELETE FROM webhooks_subscription WHERE tenant_id = NEW.tenant_id AND endpoint_id = NEW.id
       AND ends_at < LEAST(oldest, instant) - interval '15 minutes';
  END IF;
  IF NEW.active THEN
    INSERT INTO webhooks_subscription (id, tenant_id, endpoint_id, events, begins_at)
    VALUES (gen_random_uuid(), NEW.tenant_id, NEW.id, NEW.events, instant);
  END IF;
  RETURN NULL;
END $$;

CREATE TRIGGER webhooks_subscription_begins AFTER INSERT ON webhooks_endpoint
  FOR EACH ROW EXECUTE FUNCTION hp_keep_subscription();
CREATE TRIGGER webhooks_subscription_changes AFTER UPDATE ON webhooks_endpoint
  FOR EACH ROW WHEN ((OLD.active, OLD.events) IS DISTINCT FROM (NEW.active, NEW.events))
  EXECUTE FUNCTION hp_keep_subscription();
"""
DROP = """
DROP TRIGGER webhooks_subscription_begins ON webhooks_endpoint;
DROP TRIGGER webhooks_subscription_changes ON webhooks_endpoint;
DROP FUNCTION hp_keep_subscription();
"""
FILL = """
INSERT INTO webhooks_subscription (id, tenant_id, endpoint_id, events, begins_at)
SELECT gen_random_uuid(), tenant_id, id, events, created_at FROM webhooks_endpoint WHERE active
"""
COUNT = """
UPDATE organizations_quota quota SET used = held.used, version = version + 1,
       "limit" = CASE WHEN enforcement = 'hard' AND "limit" < held.used THEN held.used ELSE "limit" END
FROM (SELECT tenant_id, count(*) AS used FROM webhooks_endpoint WHERE deleted_at IS NULL GROUP BY tenant_id) held
WHERE quota.tenant_id = held.tenant_id AND quota.key = 'webhook_endpoints'
"""


class Migration(migrations.Migration):
    """One table, its trigger, and the count."""

    dependencies = [
        ("webhooks", "0011_keys_hold_the_tenant"),
        ("organizations", "0008_tenant_keys"),
    ]

    operations = [
        migrations.CreateModel(
            name="Subscription",
            fields=[
                ("id", models.UUIDField(default=core.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ("tenant_id", models.UUIDField()),
                ("endpoint_id", models.UUIDField()),
                (
                    "events",
                    django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=80), size=None),
                ),
                ("begins_at", models.DateTimeField()),
                ("ends_at", models.DateTimeField(null=True)),
            ],
            options={
                "indexes": [
                    models.Index(
                        fields=["tenant_id", "endpoint_id", "begins_at"], name="webhooks_subscription_by_time"
                    )
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(ends_at__isnull=True) | models.Q(ends_at__gte=models.F("begins_at")),
                        name="webhooks_subscription_has_order",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(ends_at__isnull=True),
                        fields=("tenant_id", "endpoint_id"),
                        name="webhooks_subscription_one_open",
                    ),
                ],
            },
        ),
        migrations.RunSQL(FILL, migrations.RunSQL.noop),
        migrations.RunSQL(KEEP, DROP),
        migrations.RunSQL(COUNT, migrations.RunSQL.noop),
    ]
