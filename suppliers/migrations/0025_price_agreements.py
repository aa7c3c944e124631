"""Price agreements, their drafts, lines and copies.

Safe: the tables and the type are new. A range of ids lets an exclusion constraint compare them without an extension.
"""

import core.clock
import core.ids
import django.contrib.postgres.constraints
import django.db.models.deletion
import django.db.models.expressions
import django.db.models.functions.datetime
import django_fsm
import suppliers.agreements.fields
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('organizations', '0011_managed_tenants'),
        ('suppliers', '0024_pricing_rules'),
    ]

    operations = [
        migrations.RunSQL('CREATE TYPE uuidrange AS RANGE (subtype = uuid)', 'DROP TYPE uuidrange'),
        migrations.CreateModel(
            name='AgreementAudience',
            fields=[
                ('pk', models.CompositePrimaryKey('tenant_id', 'agreement_id', 'member_tenant_id', blank=True, editable=False, primary_key=True, serialize=False)),
                ('tenant_id', models.UUIDField()),
                ('agreement_id', models.UUIDField()),
                ('member_tenant_id', models.UUIDField()),
                ('distance', models.PositiveSmallIntegerField()),
            ],
            options={
                'indexes': [models.Index(fields=['member_tenant_id', 'tenant_id', 'agreement_id'], name='suppliers_agreeaudience_member')],
            },
        ),
        migrations.CreateModel(
            name='PriceAgreement',
            fields=[
                ('updated_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), default=core.clock.now)),
                ('version', models.PositiveIntegerField(db_default=1, default=1)),
                ('id', models.UUIDField(default=core.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), default=core.clock.now, editable=False)),
                ('agreement_id', models.UUIDField()),
                ('revision', models.PositiveIntegerField(default=1)),
                ('supplier_tenant_id', models.UUIDField()),
                ('author', models.CharField(choices=[('buyer', 'Buyer'), ('supplier', 'Supplier')], max_length=8)),
                ('title', models.CharField(max_length=255)),
                ('scope', models.CharField(choices=[('tenant', 'The buyer alone'), ('organization', "Every tenant of the buyer's organization and below")], default='tenant', max_length=12)),
                ('group_code', models.CharField(blank=True, default='', max_length=64)),
                ('currency', models.CharField(max_length=3)),
                ('valid_from', models.DateField()),
                ('valid_to', models.DateField()),
                ('priority', models.PositiveIntegerField(default=0)),
                ('payment_terms', models.JSONField(null=True)),
                ('min_order_value', models.JSONField(null=True)),
                ('free_freight_from', models.JSONField(null=True)),
                ('qty_tolerance_bp', models.PositiveIntegerField(null=True)),
                ('price_tolerance_bp', models.PositiveIntegerField(null=True)),
                ('cancellation_policy', models.CharField(blank=True, default='', max_length=2000)),
                ('lines_total', models.PositiveIntegerField(default=0)),
                ('categories', models.JSONField(default=list)),
                ('sequence', models.PositiveIntegerField()),
                ('number', models.CharField(max_length=64)),
                ('scope_id', models.UUIDField()),
                ('status', django_fsm.FSMField(choices=[('proposed', 'Proposed'), ('active', 'Active'), ('suspended', 'Suspended'), ('declined', 'Declined'), ('superseded', 'Superseded'), ('terminated', 'Terminated'), ('expired', 'Expired')], default='proposed', max_length=10, protected=True)),
                ('proposed_at', models.DateTimeField()),
                ('accepted_by_buyer_at', models.DateTimeField(null=True)),
                ('accepted_by_supplier_at', models.DateTimeField(null=True)),
                ('terminates_on', models.DateField(null=True)),
                ('reason', models.CharField(blank=True, default='', max_length=500)),
                ('ended_at', models.DateTimeField(null=True)),
                ('shared_version', models.PositiveIntegerField(default=1)),
                ('tenant', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='organizations.tenant')),
            ],
            options={
                'verbose_name': 'price agreement',
            },
            bases=(django_fsm.ConcurrentTransitionMixin, models.Model),
        ),
        migrations.CreateModel(
            name='PriceAgreementLine',
            fields=[
                ('updated_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), default=core.clock.now)),
                ('version', models.PositiveIntegerField(db_default=1, default=1)),
                ('id', models.UUIDField(default=core.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), default=core.clock.now, editable=False)),
                ('line_no', models.PositiveIntegerField()),
                ('product_id', models.UUIDField(null=True)),
                ('category', models.CharField(max_length=64, null=True)),
                ('packaging_id', models.UUIDField(null=True)),
                ('price_base_quantity', models.PositiveIntegerField(default=1)),
                ('tiers', models.JSONField()),
                ('max_quantity', models.BigIntegerField(null=True)),
                ('consumed', models.BigIntegerField(db_default=0, default=0)),
                ('min_remaining_shelf_life_days', models.IntegerField(null=True)),
                ('lead_time_days', models.PositiveIntegerField(null=True)),
                ('in_force', models.BooleanField(db_default=False, default=False)),
                ('scope_id', models.UUIDField()),
                ('group_code', models.CharField(blank=True, default='', max_length=64)),
                ('supplier_tenant_id', models.UUIDField()),
                ('currency', models.CharField(max_length=3)),
                ('valid_from', models.DateField()),
                ('valid_to', models.DateField()),
                ('quantities', suppliers.agreements.fields.QuantitiesField()),
                ('subject_id', models.GeneratedField(db_persist=True, expression=django.db.models.expressions.RawSQL("coalesce(product_id, md5('category ' || category)::uuid)", []), output_field=models.UUIDField())),
                ('packaging_key', models.GeneratedField(db_persist=True, expression=django.db.models.expressions.RawSQL("coalesce(packaging_id, '00000000-0000-0000-0000-000000000000'::uuid)", []), output_field=models.UUIDField())),
                ('slot', models.GeneratedField(db_persist=True, expression=django.db.models.expressions.RawSQL("md5(tenant_id::text || ' ' || scope_id::text || ' ' || group_code || ' ' || supplier_tenant_id::text || ' ' || (coalesce(product_id, md5('category ' || category)::uuid))::text || ' ' || (coalesce(packaging_id, '00000000-0000-0000-0000-000000000000'::uuid))::text || ' ' || currency)::uuid", []), output_field=models.UUIDField())),
                ('agreement', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='lines', to='suppliers.priceagreement')),
                ('tenant', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='organizations.tenant')),
            ],
        ),
        migrations.CreateModel(
            name='ReceivedAgreement',
            fields=[
                ('id', models.UUIDField(editable=False, primary_key=True, serialize=False)),
                ('owner_tenant_id', models.UUIDField()),
                ('number', models.CharField(max_length=64)),
                ('status', models.CharField(max_length=40)),
                ('version', models.PositiveIntegerField()),
                ('representation', models.JSONField()),
                ('lines', models.JSONField(null=True)),
                ('received_at', models.DateTimeField()),
                ('updated_at', models.DateTimeField()),
                ('agreement_id', models.UUIDField()),
                ('revision', models.PositiveIntegerField()),
                ('currency', models.CharField(max_length=3)),
                ('priority', models.PositiveIntegerField()),
                ('valid_from', models.DateField()),
                ('valid_to', models.DateField()),
                ('scope', models.CharField(choices=[('tenant', 'The buyer alone'), ('organization', "Every tenant of the buyer's organization and below")], max_length=12)),
                ('group_code', models.CharField(blank=True, default='', max_length=64)),
                ('in_force', models.GeneratedField(db_persist=True, expression=models.Q(('status', 'active')), output_field=models.BooleanField())),
                ('tenant', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='organizations.tenant')),
            ],
        ),
        migrations.CreateModel(
            name='ReceivedAgreementLine',
            fields=[
                ('id', models.UUIDField(editable=False, primary_key=True, serialize=False)),
                ('document_id', models.UUIDField()),
                ('line_no', models.PositiveIntegerField()),
                ('product_id', models.UUIDField(null=True)),
                ('category', models.CharField(max_length=64, null=True)),
                ('packaging_id', models.UUIDField(null=True)),
                ('price_base_quantity', models.IntegerField(default=1)),
                ('tiers', models.JSONField()),
                ('max_quantity', models.BigIntegerField(null=True)),
                ('consumed', models.BigIntegerField(default=0)),
                ('min_remaining_shelf_life_days', models.IntegerField(null=True)),
                ('lead_time_days', models.PositiveIntegerField(null=True)),
                ('tenant', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='organizations.tenant')),
            ],
        ),
        migrations.CreateModel(
            name='AgreementDraft',
            fields=[
                ('updated_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), default=core.clock.now)),
                ('version', models.PositiveIntegerField(db_default=1, default=1)),
                ('id', models.UUIDField(default=core.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), default=core.clock.now, editable=False)),
                ('agreement_id', models.UUIDField()),
                ('revision', models.PositiveIntegerField(default=1)),
                ('supplier_tenant_id', models.UUIDField()),
                ('author', models.CharField(choices=[('buyer', 'Buyer'), ('supplier', 'Supplier')], max_length=8)),
                ('title', models.CharField(max_length=255)),
                ('scope', models.CharField(choices=[('tenant', 'The buyer alone'), ('organization', "Every tenant of the buyer's organization and below")], default='tenant', max_length=12)),
                ('group_code', models.CharField(blank=True, default='', max_length=64)),
                ('currency', models.CharField(max_length=3)),
                ('valid_from', models.DateField()),
                ('valid_to', models.DateField()),
                ('priority', models.PositiveIntegerField(default=0)),
                ('payment_terms', models.JSONField(null=True)),
                ('min_order_value', models.JSONField(null=True)),
                ('free_freight_from', models.JSONField(null=True)),
                ('qty_tolerance_bp', models.PositiveIntegerField(null=True)),
                ('price_tolerance_bp', models.PositiveIntegerField(null=True)),
                ('cancellation_policy', models.CharField(blank=True, default='', max_length=2000)),
                ('lines_total', models.PositiveIntegerField(default=0)),
                ('categories', models.JSONField(default=list)),
                ('buyer_tenant_id', models.UUIDField()),
                ('number', models.CharField(blank=True, default='', max_length=64)),
                ('base_revision', models.PositiveIntegerField(default=0)),
                ('lines', models.JSONField(default=list)),
                ('tenant', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='organizations.tenant')),
            ],
            options={
                'verbose_name': 'price agreement',
                'indexes': [models.Index(fields=['tenant', 'created_at', 'id'], name='suppliers_agreedraft_created'), models.Index(fields=['tenant', 'updated_at', 'id'], name='suppliers_agreedraft_updated')],
                'constraints': [models.UniqueConstraint(fields=('tenant', 'agreement_id'), name='suppliers_agreementdraft_one'), models.CheckConstraint(condition=models.Q(('buyer_tenant_id', models.F('supplier_tenant_id')), _negated=True), name='suppliers_agreementdraft_two_parties'), models.CheckConstraint(condition=models.Q(models.Q(('author', 'buyer'), ('tenant', models.F('buyer_tenant_id'))), models.Q(('author', 'supplier'), ('tenant', models.F('supplier_tenant_id'))), _connector='OR'), name='suppliers_agreementdraft_of_author'), models.CheckConstraint(condition=models.Q(('author__in', ['buyer', 'supplier'])), name='suppliers_agreementdraft_author_known'), models.CheckConstraint(condition=models.Q(('valid_to__gt', models.F('valid_from'))), name='suppliers_agreementdraft_validity'), models.CheckConstraint(condition=models.Q(('priority__lte', 1000)), name='suppliers_agreementdraft_priority'), models.CheckConstraint(condition=models.Q(models.Q(('qty_tolerance_bp__isnull', True), ('qty_tolerance_bp__lte', 10000), _connector='OR'), models.Q(('price_tolerance_bp__isnull', True), ('price_tolerance_bp__lte', 10000), _connector='OR')), name='suppliers_agreementdraft_tolerances'), models.CheckConstraint(condition=models.Q(('lines_total__lte', 10000), ('revision__gte', 1)), name='suppliers_agreementdraft_numbers'), models.CheckConstraint(condition=models.Q(('scope', 'organization'), models.Q(('group_code', ''), ('scope', 'tenant')), _connector='OR'), name='suppliers_agreementdraft_scope')],
            },
        ),
        migrations.AddIndex(
            model_name='priceagreement',
            index=models.Index(fields=['tenant', 'created_at', 'id'], name='suppliers_agreement_created'),
        ),
        migrations.AddIndex(
            model_name='priceagreement',
            index=models.Index(fields=['tenant', 'updated_at', 'id'], name='suppliers_agreement_updated'),
        ),
        migrations.AddIndex(
            model_name='priceagreement',
            index=models.Index(fields=['tenant', 'status', 'created_at', 'id'], name='suppliers_agreement_status'),
        ),
        migrations.AddIndex(
            model_name='priceagreement',
            index=models.Index(fields=['tenant', 'supplier_tenant_id', 'created_at', 'id'], name='suppliers_agreement_supplier'),
        ),
        migrations.AddIndex(
            model_name='priceagreement',
            index=models.Index(condition=models.Q(('status__in', ('active', 'suspended'))), fields=['valid_to', 'tenant'], name='suppliers_agreement_ending'),
        ),
        migrations.AddConstraint(
            model_name='priceagreement',
            constraint=models.UniqueConstraint(fields=('tenant', 'agreement_id', 'revision'), name='suppliers_agreement_revision'),
        ),
        migrations.AddConstraint(
            model_name='priceagreement',
            constraint=models.UniqueConstraint(fields=('tenant', 'sequence', 'revision'), name='suppliers_agreement_number'),
        ),
        migrations.AddConstraint(
            model_name='priceagreement',
            constraint=models.UniqueConstraint(condition=models.Q(('status', 'proposed')), fields=('tenant', 'agreement_id'), name='suppliers_agreement_one_proposed'),
        ),
        migrations.AddConstraint(
            model_name='priceagreement',
            constraint=models.UniqueConstraint(condition=models.Q(('status__in', ('active', 'suspended'))), fields=('tenant', 'agreement_id'), name='suppliers_agreement_one_accepted'),
        ),
        migrations.AddConstraint(
            model_name='priceagreement',
            constraint=models.CheckConstraint(condition=models.Q(('supplier_tenant_id', models.F('tenant_id')), _negated=True), name='suppliers_agreement_two_parties'),
        ),
        migrations.AddConstraint(
            model_name='priceagreement',
            constraint=models.CheckConstraint(condition=models.Q(('status__in', ['proposed', 'active', 'suspended', 'declined', 'superseded', 'terminated', 'expired'])), name='suppliers_agreement_status_known'),
        ),
        migrations.AddConstraint(
            model_name='priceagreement',
            constraint=models.CheckConstraint(condition=models.Q(('status__in', ('proposed', 'declined')), ('accepted_by_buyer_at__isnull', False), _connector='OR'), name='suppliers_agreement_accepted'),
        ),
        migrations.AddConstraint(
            model_name='priceagreement',
            constraint=models.CheckConstraint(condition=models.Q(('ended_at__isnull', True), models.Q(('status__in', ['proposed', 'active', 'suspended']), _negated=True), _connector='XOR'), name='suppliers_agreement_ended'),
        ),
        migrations.AddConstraint(
            model_name='priceagreement',
            constraint=models.CheckConstraint(condition=models.Q(('author__in', ['buyer', 'supplier'])), name='suppliers_agreement_author_known'),
        ),
        migrations.AddConstraint(
            model_name='priceagreement',
            constraint=models.CheckConstraint(condition=models.Q(('valid_to__gt', models.F('valid_from'))), name='suppliers_agreement_validity'),
        ),
        migrations.AddConstraint(
            model_name='priceagreement',
            constraint=models.CheckConstraint(condition=models.Q(('priority__lte', 1000)), name='suppliers_agreement_priority'),
        ),
        migrations.AddConstraint(
            model_name='priceagreement',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('qty_tolerance_bp__isnull', True), ('qty_tolerance_bp__lte', 10000), _connector='OR'), models.Q(('price_tolerance_bp__isnull', True), ('price_tolerance_bp__lte', 10000), _connector='OR')), name='suppliers_agreement_tolerances'),
        ),
        migrations.AddConstraint(
            model_name='priceagreement',
            constraint=models.CheckConstraint(condition=models.Q(('lines_total__lte', 10000), ('revision__gte', 1)), name='suppliers_agreement_numbers'),
        ),
        migrations.AddConstraint(
            model_name='priceagreement',
            constraint=models.CheckConstraint(condition=models.Q(('scope', 'organization'), models.Q(('group_code', ''), ('scope', 'tenant')), _connector='OR'), name='suppliers_agreement_scope'),
        ),
        migrations.AddIndex(
            model_name='priceagreementline',
            index=models.Index(condition=models.Q(('in_force', True)), fields=['tenant', 'slot'], name='suppliers_agreementline_slot'),
        ),
        migrations.AddConstraint(
            model_name='priceagreementline',
            constraint=models.UniqueConstraint(fields=('tenant', 'agreement', 'line_no'), name='suppliers_agreementline_number'),
        ),
        migrations.AddConstraint(
            model_name='priceagreementline',
            constraint=django.contrib.postgres.constraints.ExclusionConstraint(condition=models.Q(('in_force', True)), expressions=[(models.Func('slot', 'slot', models.Value('[]'), function='uuidrange', output_field=models.TextField()), '&&'), ('quantities', '&&'), (models.Func('valid_from', 'valid_to', function='daterange', output_field=models.TextField()), '&&')], name='suppliers_agreementline_no_overlap'),
        ),
        migrations.AddConstraint(
            model_name='priceagreementline',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('category__isnull', True), ('product_id__isnull', False)), models.Q(('category__isnull', False), ('packaging_id__isnull', True), ('product_id__isnull', True)), _connector='OR'), name='suppliers_agreementline_subject'),
        ),
        migrations.AddConstraint(
            model_name='priceagreementline',
            constraint=models.CheckConstraint(condition=models.Q(('price_base_quantity__gte', 1), models.Q(('tiers', []), _negated=True), models.Q(('min_remaining_shelf_life_days__isnull', True), ('min_remaining_shelf_life_days__gte', 0), _connector='OR')), name='suppliers_agreementline_amounts'),
        ),
        migrations.AddConstraint(
            model_name='priceagreementline',
            constraint=models.CheckConstraint(condition=models.Q(('consumed__gte', 0), models.Q(('max_quantity__isnull', True), models.Q(('consumed__lte', models.F('max_quantity')), ('max_quantity__gte', 1)), _connector='OR')), name='suppliers_agreementline_cap'),
        ),
        migrations.AddIndex(
            model_name='receivedagreement',
            index=models.Index(fields=['tenant', 'received_at', 'id'], name='suppliers_recagree_by_time'),
        ),
        migrations.AddIndex(
            model_name='receivedagreement',
            index=models.Index(fields=['tenant', 'updated_at', 'id'], name='suppliers_recagree_by_updated'),
        ),
        migrations.AddIndex(
            model_name='receivedagreement',
            index=models.Index(fields=['tenant', 'status', 'received_at', 'id'], name='suppliers_recagree_by_status'),
        ),
        migrations.AddIndex(
            model_name='receivedagreement',
            index=models.Index(fields=['tenant', 'owner_tenant_id', 'received_at', 'id'], name='suppliers_recagree_by_owner'),
        ),
        migrations.AddIndex(
            model_name='receivedagreement',
            index=models.Index(fields=['tenant', 'agreement_id'], name='suppliers_recagree_agreement'),
        ),
        migrations.AddIndex(
            model_name='receivedagreementline',
            index=models.Index(fields=['tenant', 'document_id', 'line_no'], name='suppliers_recagreeline_number'),
        ),
        migrations.AddIndex(
            model_name='receivedagreementline',
            index=models.Index(fields=['tenant', 'document_id', 'product_id'], name='suppliers_recagreeline_product'),
        ),
        migrations.AddIndex(
            model_name='receivedagreementline',
            index=models.Index(condition=models.Q(('category__isnull', False)), fields=['tenant', 'document_id', 'category'], name='suppliers_recagreeline_categ'),
        ),
        migrations.AddIndex(
            model_name='receivedagreementline',
            index=models.Index(fields=['tenant', 'product_id', 'document_id'], name='suppliers_recagreeline_of_prod'),
        ),
    ]
