"""Gives each tenant a key of its own.

Safe: a new table. A tenant without a key gets one with the first value that is sealed for it.
"""

import core.clock
import django.db.models.deletion
import django.db.models.functions.datetime
from django.db import migrations, models


_KEEP = """
CREATE FUNCTION organizations_keep_tenant_key() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' OR OLD.destroyed_at IS NOT NULL OR NEW.tenant_id IS DISTINCT FROM OLD.tenant_id THEN
    RAISE EXCEPTION 'the row of a tenant key stays, and a destroyed key is not replaced' USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER organizations_keep_tenant_key BEFORE UPDATE OR DELETE ON organizations_tenantkey
FOR EACH ROW EXECUTE FUNCTION organizations_keep_tenant_key();
"""


class Migration(migrations.Migration):
    """A table and its trigger."""

    dependencies = [
        ('organizations', '0007_keys_by_purpose'),
    ]

    operations = [
        migrations.CreateModel(
            name='TenantKey',
            fields=[
                ('tenant', models.OneToOneField(editable=False, on_delete=django.db.models.deletion.PROTECT, primary_key=True, related_name='+', serialize=False, to='organizations.tenant')),
                ('sealed_key', models.BinaryField(null=True)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), default=core.clock.now, editable=False)),
                ('destroyed_at', models.DateTimeField(null=True)),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(models.Q(('destroyed_at__isnull', False), ('sealed_key__isnull', True)), models.Q(('destroyed_at__isnull', True), ('sealed_key__isnull', False)), _connector='OR'), name='organizations_tenant_key_or_destroyed')],
            },
        ),
        migrations.RunSQL(_KEEP, "DROP FUNCTION organizations_keep_tenant_key() CASCADE"),
    ]
