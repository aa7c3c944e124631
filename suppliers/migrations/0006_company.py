"""The whole profile of a supplier, with its licences and groups of buyers; who trades already is qualified.

Safe: new tables; columns with defaults and two checks on a table with at most one row for each supplier, which no process of
the version before writes.
"""

from typing import ClassVar

import core.clock
import core.ids
import django.db.models.deletion
import django.db.models.functions.datetime
import django_fsm
from django.db import migrations, models


# Suppliers from before qualification was asked for go on trading; staff may still review, suspend or disqualify them.
QUALIFY = """
INSERT INTO suppliers_supplierprofile (id, tenant_id, legal_name, trade_name, country, registrations, addresses, contacts,
 currencies, ships_to, categories, tax_rates, order_settings, bank_account_last4, qualification_status)
SELECT uuidv7(), n.id, n.name, '', coalesce(left(o.address ->> 'country', 2), ''), '[]', '[]', '[]', '[]', '[]', '[]', '[]',
 '{}', '', 'qualified'
FROM organizations_tenant n JOIN organizations_organization o ON o.id = n.organization_id
WHERE 'supplier' = ANY(n.kinds) AND n.status <> 'closed'
ON CONFLICT (tenant_id) DO UPDATE SET qualification_status = 'qualified', legal_name = EXCLUDED.legal_name,
 country = EXCLUDED.country, version = suppliers_supplierprofile.version + 1;
SET CONSTRAINTS ALL IMMEDIATE;
"""


class Migration(migrations.Migration):
    """Columns and tables, then the rows of the suppliers that are there."""

    dependencies: ClassVar = [
        ('organizations', '0010_failures_by_network'),
        ('suppliers', '0005_attribute_definitions'),
    ]

    operations: ClassVar = [
        migrations.CreateModel(
            name='BuyerGroup',
            fields=[
                ('updated_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), default=core.clock.now)),
                ('version', models.PositiveIntegerField(db_default=1, default=1)),
                ('id', models.UUIDField(default=core.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), default=core.clock.now, editable=False)),
                ('code', models.CharField(max_length=64)),
                ('name', models.CharField(blank=True, default='', max_length=120)),
                ('position', models.PositiveSmallIntegerField(default=0)),
                ('reservation_cap_percent', models.PositiveSmallIntegerField(null=True)),
            ],
        ),
        migrations.CreateModel(
            name='BuyerGroupMember',
            fields=[
                ('pk', models.CompositePrimaryKey('tenant_id', 'member_id', 'group_id', blank=True, editable=False, primary_key=True, serialize=False)),
                ('tenant_id', models.UUIDField()),
                ('member_id', models.UUIDField()),
                ('group_id', models.UUIDField()),
                ('kind', models.CharField(choices=[('buyer', 'Buyer'), ('organization', 'Organization')], max_length=12)),
            ],
        ),
        migrations.CreateModel(
            name='SupplierLicense',
            fields=[
                ('updated_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), default=core.clock.now)),
                ('version', models.PositiveIntegerField(db_default=1, default=1)),
                ('id', models.UUIDField(default=core.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), default=core.clock.now, editable=False)),
                ('type', models.CharField(choices=[('wholesale', 'Wholesale'), ('manufacturing', 'Manufacturing'), ('controlled', 'Controlled'), ('gdp', 'Gdp'), ('iso13485', 'Iso13485')], max_length=13)),
                ('number', models.CharField(max_length=80)),
                ('authority', models.CharField(blank=True, default='', max_length=200)),
                ('valid_from', models.DateField(null=True)),
                ('valid_to', models.DateField(null=True)),
                ('file_id', models.UUIDField(null=True)),
                ('position', models.PositiveSmallIntegerField(default=0)),
                ('verified_at', models.DateTimeField(null=True)),
                ('told_days', models.PositiveSmallIntegerField(null=True)),
            ],
        ),
        migrations.AddField(
            model_name='supplierprofile',
            name='addresses',
            field=models.JSONField(default=list),
        ),
        migrations.AddField(
            model_name='supplierprofile',
            name='bank_account',
            field=models.BinaryField(null=True),
        ),
        migrations.AddField(
            model_name='supplierprofile',
            name='bank_account_last4',
            field=models.CharField(blank=True, default='', max_length=4),
        ),
        migrations.AddField(
            model_name='supplierprofile',
            name='bank_reviewed_at',
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name='supplierprofile',
            name='categories',
            field=models.JSONField(default=list),
        ),
        migrations.AddField(
            model_name='supplierprofile',
            name='contacts',
            field=models.JSONField(default=list),
        ),
        migrations.AddField(
            model_name='supplierprofile',
            name='country',
            field=models.CharField(blank=True, default='', max_length=2),
        ),
        migrations.AddField(
            model_name='supplierprofile',
            name='currencies',
            field=models.JSONField(default=list),
        ),
        migrations.AddField(
            model_name='supplierprofile',
            name='identity_reviewed_at',
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name='supplierprofile',
            name='legal_name',
            field=models.CharField(blank=True, default='', max_length=255),
        ),
        migrations.AddField(
            model_name='supplierprofile',
            name='min_order_value',
            field=models.JSONField(null=True),
        ),
        migrations.AddField(
            model_name='supplierprofile',
            name='payment_terms',
            field=models.JSONField(null=True),
        ),
        migrations.AddField(
            model_name='supplierprofile',
            name='qualification_status',
            field=django_fsm.FSMField(choices=[('registered', 'Registered'), ('under_review', 'Under Review'), ('qualified', 'Qualified'), ('suspended', 'Suspended'), ('disqualified', 'Disqualified')], default='registered', max_length=12, protected=True),
        ),
        migrations.AddField(
            model_name='supplierprofile',
            name='registrations',
            field=models.JSONField(default=list),
        ),
        migrations.AddField(
            model_name='supplierprofile',
            name='ships_to',
            field=models.JSONField(default=list),
        ),
        migrations.AddField(
            model_name='supplierprofile',
            name='tax_rates',
            field=models.JSONField(default=list),
        ),
        migrations.AddField(
            model_name='supplierprofile',
            name='trade_name',
            field=models.CharField(blank=True, default='', max_length=255),
        ),
        migrations.AddConstraint(
            model_name='supplierprofile',
            constraint=models.CheckConstraint(condition=models.Q(('qualification_status__in', ['registered', 'under_review', 'qualified', 'suspended', 'disqualified'])), name='suppliers_supplierprofile_status_known'),
        ),
        migrations.AddConstraint(
            model_name='supplierprofile',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('bank_account__isnull', True), ('bank_account_last4', ''), ('bank_reviewed_at__isnull', True)), models.Q(('bank_account__isnull', False), models.Q(('bank_account_last4', ''), _negated=True)), _connector='OR'), name='suppliers_supplierprofile_bank'),
        ),
        migrations.AddField(
            model_name='buyergroup',
            name='tenant',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='organizations.tenant'),
        ),
        migrations.AddConstraint(
            model_name='buyergroupmember',
            constraint=models.CheckConstraint(condition=models.Q(('kind__in', ['buyer', 'organization'])), name='suppliers_buyergroupmember_kind_known'),
        ),
        migrations.AddField(
            model_name='supplierlicense',
            name='tenant',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='organizations.tenant'),
        ),
        migrations.AddConstraint(
            model_name='buyergroup',
            constraint=models.UniqueConstraint(fields=('tenant', 'code'), name='suppliers_buyergroup_code_once'),
        ),
        migrations.AddConstraint(
            model_name='buyergroup',
            constraint=models.CheckConstraint(condition=models.Q(('reservation_cap_percent__isnull', True), ('reservation_cap_percent__range', (1, 100)), _connector='OR'), name='suppliers_buyergroup_cap'),
        ),
        migrations.AddIndex(
            model_name='supplierlicense',
            index=models.Index(condition=models.Q(('valid_to__isnull', False), models.Q(('told_days__isnull', True), ('told_days__gt', 0), _connector='OR')), fields=['valid_to', 'tenant'], name='suppliers_license_ending'),
        ),
        migrations.AddConstraint(
            model_name='supplierlicense',
            constraint=models.UniqueConstraint(fields=('tenant', 'type', 'number'), name='suppliers_supplierlicense_once'),
        ),
        migrations.AddConstraint(
            model_name='supplierlicense',
            constraint=models.CheckConstraint(condition=models.Q(('type__in', ['wholesale', 'manufacturing', 'controlled', 'gdp', 'iso13485'])), name='suppliers_supplierlicense_type_known'),
        ),
        migrations.AddConstraint(
            model_name='supplierlicense',
            constraint=models.CheckConstraint(condition=models.Q(('valid_from__isnull', True), ('valid_to__isnull', True), ('valid_to__gt', models.F('valid_from')), _connector='OR'), name='suppliers_supplierlicense_validity'),
        ),
        migrations.AddConstraint(
            model_name='supplierlicense',
            constraint=models.CheckConstraint(condition=models.Q(('told_days__isnull', True), ('told_days__in', (90, 30, 7, 0)), _connector='OR'), name='suppliers_supplierlicense_told'),
        ),
        migrations.RunSQL(QUALIFY, migrations.RunSQL.noop),
    ]
