"""Relationships of buyers to suppliers, the products that they name, and suppliers that only one buyer knows.

Safe: new tables only.
"""

import core.clock
import core.ids
import django.contrib.postgres.fields
import django.db.models.deletion
import django.db.models.functions.datetime
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('organizations', '0011_managed_tenants'),
        ('suppliers', '0021_dispensed_lines'),
    ]

    operations = [
        migrations.CreateModel(
            name='BlockedProduct',
            fields=[
                ('pk', models.CompositePrimaryKey('tenant_id', 'supplier_id', 'product_id', blank=True, editable=False, primary_key=True, serialize=False)),
                ('tenant_id', models.UUIDField()),
                ('supplier_id', models.UUIDField()),
                ('product_id', models.UUIDField()),
            ],
            options={
                'abstract': False,
            },
        ),
        migrations.CreateModel(
            name='ApprovedSubstitute',
            fields=[
                ('pk', models.CompositePrimaryKey('tenant_id', 'supplier_id', 'product_id', 'substitute_product_id', blank=True, editable=False, primary_key=True, serialize=False)),
                ('tenant_id', models.UUIDField()),
                ('supplier_id', models.UUIDField()),
                ('product_id', models.UUIDField()),
                ('substitute_product_id', models.UUIDField()),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(('product_id', models.F('substitute_product_id')), _negated=True), name='suppliers_approvedsubstitute_other')],
            },
        ),
        migrations.CreateModel(
            name='ItemAlias',
            fields=[
                ('pk', models.CompositePrimaryKey('tenant_id', 'supplier_id', 'product_id', blank=True, editable=False, primary_key=True, serialize=False)),
                ('tenant_id', models.UUIDField()),
                ('supplier_id', models.UUIDField()),
                ('product_id', models.UUIDField()),
                ('own_code', models.CharField(max_length=64)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('tenant_id', 'supplier_id', 'own_code'), name='suppliers_itemalias_code_once')],
            },
        ),
        migrations.CreateModel(
            name='ManagedRegistration',
            fields=[
                ('pk', models.CompositePrimaryKey('tenant_id', 'supplier_id', 'scheme', 'value', blank=True, editable=False, primary_key=True, serialize=False)),
                ('tenant_id', models.UUIDField()),
                ('supplier_id', models.UUIDField()),
                ('scheme', models.CharField(max_length=12)),
                ('value', models.CharField(max_length=64)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('tenant_id', 'scheme', 'value'), name='suppliers_managedregistration_once')],
            },
        ),
        migrations.CreateModel(
            name='ManagedSupplier',
            fields=[
                ('updated_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), default=core.clock.now)),
                ('version', models.PositiveIntegerField(db_default=1, default=1)),
                ('id', models.UUIDField(default=core.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), default=core.clock.now, editable=False)),
                ('supplier_id', models.UUIDField()),
                ('legal_name', models.CharField(max_length=200)),
                ('country', models.CharField(max_length=2)),
                ('registrations', models.JSONField(default=list)),
                ('contacts', models.JSONField(default=list)),
                ('currencies', models.JSONField(default=list)),
                ('payment_terms', models.JSONField(null=True)),
                ('tax_rates', models.JSONField(default=list)),
                ('tenant', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='organizations.tenant')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('tenant', 'supplier_id'), name='suppliers_managedsupplier_once'), models.CheckConstraint(condition=models.Q(('supplier_id', models.F('tenant')), _negated=True), name='suppliers_managedsupplier_other')],
            },
        ),
        migrations.CreateModel(
            name='Relationship',
            fields=[
                ('updated_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), default=core.clock.now)),
                ('version', models.PositiveIntegerField(db_default=1, default=1)),
                ('id', models.UUIDField(default=core.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), default=core.clock.now, editable=False)),
                ('supplier_id', models.UUIDField()),
                ('status', models.CharField(choices=[('invited', 'Invited'), ('active', 'Active'), ('blocked', 'Blocked')], default='active', max_length=7)),
                ('blocks', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=8), default=list, size=None)),
                ('customer_number', models.CharField(blank=True, default='', max_length=64)),
                ('payment_terms', models.JSONField(null=True)),
                ('spend_limit', models.JSONField(null=True)),
                ('approved_categories', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=64), default=list, size=None)),
                ('tenant', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='organizations.tenant')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('tenant', 'supplier_id'), name='suppliers_relationship_once'), models.CheckConstraint(condition=models.Q(('supplier_id', models.F('tenant')), _negated=True), name='suppliers_relationship_other'), models.CheckConstraint(condition=models.Q(('status__in', ['invited', 'active', 'blocked'])), name='suppliers_relationship_status_known'), models.CheckConstraint(condition=models.Q(('blocks__contained_by', ['orders', 'invoices', 'payments'])), name='suppliers_relationship_blocks_known'), models.CheckConstraint(condition=models.Q(models.Q(('status', 'blocked'), _negated=True), ('blocks__contains', ['orders', 'invoices', 'payments']), _connector='OR'), name='suppliers_relationship_blocked_wholly')],
            },
        ),
    ]
