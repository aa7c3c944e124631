"""Tenants that stand for a supplier which only one buyer knows, and a trigger that keeps members out of them.

Safe: the column is empty for every tenant that there is, and the table has some thousands of rows. The trigger looks at
new memberships only; a process of the version before makes none of such a tenant.
"""

import django.db.models.deletion
from django.db import migrations, models


_NO_MEMBERS = """
CREATE FUNCTION organizations_no_members() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT 1 FROM organizations_tenant n WHERE n.id = NEW.tenant_id AND n.managed_by_id IS NOT NULL) THEN
    RAISE EXCEPTION 'the tenant is managed by a buyer and has no members' USING ERRCODE = 'check_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER organizations_no_members BEFORE INSERT ON organizations_membership
FOR EACH ROW EXECUTE FUNCTION organizations_no_members();
"""


class Migration(migrations.Migration):

    dependencies = [
        ('organizations', '0010_failures_by_network'),
    ]

    operations = [
        migrations.AddField(
            model_name='tenant',
            name='managed_by',
            field=models.ForeignKey(blank=True, help_text='The buyer whose private supplier without users this is.', null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='organizations.tenant'),
        ),
        migrations.AddConstraint(
            model_name='tenant',
            constraint=models.CheckConstraint(condition=models.Q(('managed_by__isnull', True), models.Q(('kinds', ['supplier']), models.Q(('managed_by', models.F('id')), _negated=True)), _connector='OR'), name='organizations_tenant_managed_is_supplier'),
        ),
        migrations.RunSQL(_NO_MEMBERS, "DROP FUNCTION organizations_no_members() CASCADE"),
    ]
