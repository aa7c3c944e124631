"""Keeps what is reserved for people away from machines, and the name that an inviter gave away from the person's own.

Safe: a column with a default, two checks on small tables, and the rows that would break them lose the scopes that a process
of this version grants to no machine anyway. A process of the version before, which still runs meanwhile, is refused when it
would give such a scope to a new key.
"""

from django.db import migrations, models

_RESERVED = (
    "prescriptions.sign", "prescriptions:sign", "procurement.approve", "procurement:approve",
    "procurement.invoices.approve", "procurement:invoices.approve",
)  # fmt: skip
_LIST = ", ".join(f"'{scope}'" for scope in _RESERVED)
_TAKE = """
UPDATE organizations_apikey SET scopes = ARRAY(SELECT s FROM unnest(scopes) s WHERE s NOT IN ({0}))
WHERE scopes && ARRAY[{0}]::varchar[];
UPDATE organizations_oauthapplication SET allowed_scopes = ARRAY(SELECT s FROM unnest(allowed_scopes) s WHERE s NOT IN ({0}))
WHERE authorization_grant_type = 'client-credentials' AND allowed_scopes && ARRAY[{0}]::varchar[];
SET CONSTRAINTS ALL IMMEDIATE;
""".format(_LIST)


class Migration(migrations.Migration):
    """A column, and two checks with the rows made to pass them."""

    dependencies = [
        ('organizations', '0008_tenant_keys'),
    ]

    operations = [
        migrations.RunSQL(_TAKE, migrations.RunSQL.noop),
        migrations.AddField(
            model_name='membership',
            name='invited_name',
            field=models.CharField(blank=True, db_default='', default='', help_text='As the inviter wrote it.', max_length=200),
        ),
        migrations.AddConstraint(
            model_name='apikey',
            constraint=models.CheckConstraint(condition=models.Q(('scopes__overlap', ['prescriptions.sign', 'procurement.approve', 'procurement.invoices.approve']), _negated=True), name='organizations_apikey_no_persons_scope'),
        ),
        migrations.AddConstraint(
            model_name='oauthapplication',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('authorization_grant_type', 'client-credentials'), _negated=True), models.Q(('allowed_scopes__overlap', ['prescriptions.sign', 'prescriptions:sign', 'procurement.approve', 'procurement.invoices.approve', 'procurement:approve', 'procurement:invoices.approve']), _negated=True), _connector='OR'), name='organizations_machine_client_no_persons_scope'),
        ),
    ]
