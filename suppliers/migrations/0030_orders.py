"""Orders of buyers, what their suppliers have received of them, and the numbers of both.

Safe: new tables only.
"""

import core.clock
import core.ids
import django.db.models.deletion
import django.db.models.expressions
import django.db.models.functions.datetime
import django_fsm
from decimal import Decimal
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('organizations', '0011_managed_tenants'),
        ('suppliers', '0029_notifications'),
    ]

    operations = [
        migrations.CreateModel(
            name='DocumentNumber',
            fields=[
                ('pk', models.CompositePrimaryKey('tenant_id', 'kind', 'number', blank=True, editable=False, primary_key=True, serialize=False)),
                ('tenant_id', models.UUIDField()),
                ('kind', models.CharField(choices=[('purchase_order', 'Order of the tenant as buyer'), ('order', 'Order to the tenant as supplier')], max_length=14)),
                ('number', models.CharField(max_length=64)),
                ('sequence', models.PositiveBigIntegerField()),
                ('document_id', models.UUIDField()),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('tenant_id', 'kind', 'sequence'), name='suppliers_documentnumber_sequence'), models.UniqueConstraint(fields=('tenant_id', 'kind', 'document_id'), name='suppliers_documentnumber_document')],
            },
        ),
        migrations.CreateModel(
            name='PriceTrace',
            fields=[
                ('updated_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), default=core.clock.now)),
                ('version', models.PositiveIntegerField(db_default=1, default=1)),
                ('id', models.UUIDField(default=core.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), default=core.clock.now, editable=False)),
                ('traces', models.JSONField(default=dict)),
                ('tenant', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='organizations.tenant')),
            ],
            options={
                'abstract': False,
            },
        ),
        migrations.CreateModel(
            name='PurchaseOrder',
            fields=[
                ('updated_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), default=core.clock.now)),
                ('version', models.PositiveIntegerField(db_default=1, default=1)),
                ('id', models.UUIDField(default=core.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), default=core.clock.now, editable=False)),
                ('number', models.CharField(max_length=64)),
                ('supplier_tenant_id', models.UUIDField()),
                ('order_number', models.CharField(blank=True, default='', max_length=64)),
                ('status', django_fsm.FSMField(choices=[('draft', 'Draft'), ('pending_approval', 'Waits for an approval'), ('sent', 'Sent'), ('change_proposed', 'A change is proposed'), ('accepted', 'Accepted'), ('rejected', 'Rejected'), ('cancelled', 'Cancelled'), ('closed', 'Closed')], default='draft', max_length=16, protected=True)),
                ('approval_for', models.CharField(blank=True, choices=[('sending', 'Sending the order'), ('supplier_change', "Accepting the supplier's change"), ('buyer_change', "Proposing the buyer's change")], default='', max_length=15)),
                ('proposed_by', models.CharField(blank=True, choices=[('buyer', 'Buyer'), ('supplier', 'Supplier')], default='', max_length=8)),
                ('before_change', models.CharField(blank=True, choices=[('draft', 'Draft'), ('pending_approval', 'Waits for an approval'), ('sent', 'Sent'), ('change_proposed', 'A change is proposed'), ('accepted', 'Accepted'), ('rejected', 'Rejected'), ('cancelled', 'Cancelled'), ('closed', 'Closed')], default='', max_length=16)),
                ('fulfilment_status', models.CharField(choices=[('unfulfilled', 'Nothing is shipped'), ('partially_shipped', 'A part is shipped'), ('shipped', 'All is shipped'), ('partially_received', 'A part is received'), ('received', 'All is received')], default='unfulfilled', max_length=18)),
                ('billing_status', models.CharField(choices=[('not_invoiced', 'Nothing is invoiced'), ('partially_invoiced', 'A part is invoiced'), ('invoiced', 'All is invoiced'), ('paid', 'All invoices are paid')], default='not_invoiced', max_length=18)),
                ('currency', models.CharField(max_length=3)),
                ('delivery_address', models.JSONField(null=True)),
                ('requested_delivery_date', models.DateField(null=True)),
                ('price_agreement_id', models.UUIDField(null=True)),
                ('payment_terms', models.JSONField(null=True)),
                ('incoterm', models.CharField(blank=True, default='', max_length=3)),
                ('priority', models.CharField(choices=[('routine', 'Routine'), ('urgent', 'Urgent'), ('emergency', 'Emergency')], default='routine', max_length=9)),
                ('substitution_policy', models.CharField(choices=[('none', 'None'), ('equivalent', 'Equivalent ones'), ('ask', 'Any')], default='ask', max_length=10)),
                ('backorder_policy', models.CharField(choices=[('accept', 'It may'), ('refuse', 'It may not')], default='accept', max_length=6)),
                ('min_remaining_shelf_life_days', models.IntegerField(null=True)),
                ('notes_to_supplier', models.CharField(blank=True, default='', max_length=5000)),
                ('internal_note', models.CharField(blank=True, default='', max_length=5000)),
                ('budget_code', models.CharField(blank=True, default='', max_length=64)),
                ('cost_center', models.CharField(blank=True, default='', max_length=64)),
                ('budget_id', models.UUIDField(null=True)),
                ('external_reference', models.CharField(blank=True, default='', max_length=120)),
                ('reservation_ids', models.JSONField(default=list)),
                ('copy_of', models.UUIDField(null=True)),
                ('requester_id', models.UUIDField(null=True)),
                ('authors', models.JSONField(default=list)),
                ('revision', models.PositiveIntegerField(default=1)),
                ('net', models.DecimalField(decimal_places=4, default=Decimal('0'), max_digits=19)),
                ('tax', models.DecimalField(decimal_places=4, max_digits=19, null=True)),
                ('gross', models.DecimalField(decimal_places=4, default=Decimal('0'), max_digits=19)),
                ('taxes', models.JSONField(default=list)),
                ('lines_total', models.PositiveIntegerField(default=0)),
                ('price_differs', models.BooleanField(db_default=False, default=False)),
                ('submitted_at', models.DateTimeField(null=True)),
                ('sent_at', models.DateTimeField(null=True)),
                ('accept_by', models.DateTimeField(null=True)),
                ('accepted_at', models.DateTimeField(null=True)),
                ('closed_at', models.DateTimeField(null=True)),
                ('shared_version', models.PositiveIntegerField(default=1)),
                ('delivery_location', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='organizations.location')),
                ('tenant', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='organizations.tenant')),
            ],
            options={
                'verbose_name': 'order',
            },
            bases=(django_fsm.ConcurrentTransitionMixin, models.Model),
        ),
        migrations.CreateModel(
            name='PurchaseOrderLine',
            fields=[
                ('updated_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), default=core.clock.now)),
                ('version', models.PositiveIntegerField(db_default=1, default=1)),
                ('id', models.UUIDField(default=core.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), default=core.clock.now, editable=False)),
                ('line_no', models.PositiveIntegerField()),
                ('product_id', models.UUIDField(null=True)),
                ('packaging_id', models.UUIDField(null=True)),
                ('offer_id', models.UUIDField(null=True)),
                ('substitutes_line_id', models.UUIDField(null=True)),
                ('own_code', models.CharField(blank=True, default='', max_length=64)),
                ('unit', models.CharField(max_length=4)),
                ('quantity', models.PositiveBigIntegerField()),
                ('requested_date', models.DateField(null=True)),
                ('promised_date', models.DateField(null=True)),
                ('first_promised_date', models.DateField(null=True)),
                ('name', models.CharField(max_length=255)),
                ('supplier_sku', models.CharField(blank=True, default='', max_length=64)),
                ('gtin', models.CharField(blank=True, default='', max_length=14)),
                ('category', models.CharField(blank=True, default='', max_length=64)),
                ('packaging', models.JSONField(null=True)),
                ('base_unit', models.CharField(max_length=3)),
                ('units_per_pack', models.PositiveBigIntegerField(default=1)),
                ('license_type', models.CharField(blank=True, default='', max_length=60)),
                ('currency', models.CharField(max_length=3)),
                ('unit_price', models.DecimalField(decimal_places=6, max_digits=19)),
                ('price_base_quantity', models.PositiveIntegerField(default=1)),
                ('list_price', models.DecimalField(decimal_places=6, max_digits=19, null=True)),
                ('list_net', models.DecimalField(decimal_places=4, max_digits=19, null=True)),
                ('net', models.DecimalField(decimal_places=4, max_digits=19)),
                ('tax_category', models.CharField(blank=True, default='', max_length=20)),
                ('tax_rate', models.DecimalField(decimal_places=4, max_digits=7, null=True)),
                ('price_source', models.CharField(max_length=10)),
                ('price_source_id', models.UUIDField(null=True)),
                ('agreement', models.JSONField(null=True)),
                ('redeemed', models.JSONField(default=list)),
                ('trace', models.JSONField(default=list)),
                ('price_check', models.JSONField(null=True)),
                ('ordered', models.PositiveBigIntegerField()),
                ('accepted', models.PositiveBigIntegerField(db_default=0, default=0)),
                ('backordered', models.PositiveBigIntegerField(db_default=0, default=0)),
                ('cancelled', models.PositiveBigIntegerField(db_default=0, default=0)),
                ('shipped', models.PositiveBigIntegerField(db_default=0, default=0)),
                ('received', models.PositiveBigIntegerField(db_default=0, default=0)),
                ('rejected', models.PositiveBigIntegerField(db_default=0, default=0)),
                ('short', models.PositiveBigIntegerField(db_default=0, default=0)),
                ('returned', models.PositiveBigIntegerField(db_default=0, default=0)),
                ('invoiced', models.PositiveBigIntegerField(db_default=0, default=0)),
                ('tolerance', models.PositiveBigIntegerField(db_default=0, default=0)),
                ('order', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='lines', to='suppliers.purchaseorder')),
                ('tenant', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='organizations.tenant')),
            ],
        ),
        migrations.CreateModel(
            name='ReceivedOrder',
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
                ('po_number', models.CharField(max_length=64)),
                ('fulfilment_status', models.CharField(choices=[('unfulfilled', 'Nothing is shipped'), ('partially_shipped', 'A part is shipped'), ('shipped', 'All is shipped'), ('partially_received', 'A part is received'), ('received', 'All is received')], max_length=18)),
                ('billing_status', models.CharField(choices=[('not_invoiced', 'Nothing is invoiced'), ('partially_invoiced', 'A part is invoiced'), ('invoiced', 'All is invoiced'), ('paid', 'All invoices are paid')], max_length=18)),
                ('priority', models.CharField(choices=[('routine', 'Routine'), ('urgent', 'Urgent'), ('emergency', 'Emergency')], max_length=9)),
                ('awaiting', models.CharField(choices=[('buyer', 'The buyer'), ('supplier', 'The supplier'), ('buyer_approval', "The buyer's approval")], max_length=14, null=True)),
                ('tenant', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='organizations.tenant')),
            ],
        ),
        migrations.CreateModel(
            name='ReceivedOrderLine',
            fields=[
                ('id', models.UUIDField(editable=False, primary_key=True, serialize=False)),
                ('document_id', models.UUIDField()),
                ('line_no', models.PositiveIntegerField()),
                ('product_id', models.UUIDField(null=True)),
                ('backordered', models.BigIntegerField(null=True)),
                ('tenant', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='organizations.tenant')),
            ],
        ),
        migrations.AddIndex(
            model_name='purchaseorder',
            index=models.Index(fields=['tenant', 'created_at', 'id'], name='suppliers_po_by_created'),
        ),
        migrations.AddIndex(
            model_name='purchaseorder',
            index=models.Index(fields=['tenant', 'updated_at', 'id'], name='suppliers_po_by_updated'),
        ),
        migrations.AddIndex(
            model_name='purchaseorder',
            index=models.Index(fields=['tenant', 'status', 'created_at', 'id'], name='suppliers_po_by_status'),
        ),
        migrations.AddIndex(
            model_name='purchaseorder',
            index=models.Index(fields=['tenant', 'supplier_tenant_id', 'created_at', 'id'], name='suppliers_po_by_supplier'),
        ),
        migrations.AddIndex(
            model_name='purchaseorder',
            index=models.Index(fields=['tenant', 'delivery_location', 'created_at', 'id'], name='suppliers_po_by_location'),
        ),
        migrations.AddIndex(
            model_name='purchaseorder',
            index=models.Index(condition=models.Q(('price_differs', True)), fields=['tenant', 'created_at', 'id'], name='suppliers_po_differing'),
        ),
        migrations.AddIndex(
            model_name='purchaseorder',
            index=models.Index(condition=models.Q(('submitted_at__isnull', False)), fields=['tenant', 'supplier_tenant_id', 'submitted_at'], name='suppliers_po_by_submitted'),
        ),
        migrations.AddConstraint(
            model_name='purchaseorder',
            constraint=models.UniqueConstraint(fields=('tenant', 'number'), name='suppliers_purchaseorder_number'),
        ),
        migrations.AddConstraint(
            model_name='purchaseorder',
            constraint=models.CheckConstraint(condition=models.Q(('supplier_tenant_id', models.F('tenant')), _negated=True), name='suppliers_purchaseorder_two_parties'),
        ),
        migrations.AddConstraint(
            model_name='purchaseorder',
            constraint=models.CheckConstraint(condition=models.Q(('status__in', ['draft', 'pending_approval', 'sent', 'change_proposed', 'accepted', 'rejected', 'cancelled', 'closed'])), name='suppliers_purchaseorder_status_known'),
        ),
        migrations.AddConstraint(
            model_name='purchaseorder',
            constraint=models.CheckConstraint(condition=models.Q(('approval_for__in', ['sending', 'supplier_change', 'buyer_change', ''])), name='suppliers_purchaseorder_approval_for_known'),
        ),
        migrations.AddConstraint(
            model_name='purchaseorder',
            constraint=models.CheckConstraint(condition=models.Q(('proposed_by__in', ['buyer', 'supplier', ''])), name='suppliers_purchaseorder_proposed_by_known'),
        ),
        migrations.AddConstraint(
            model_name='purchaseorder',
            constraint=models.CheckConstraint(condition=models.Q(('fulfilment_status__in', ['unfulfilled', 'partially_shipped', 'shipped', 'partially_received', 'received'])), name='suppliers_purchaseorder_fulfilment_status_known'),
        ),
        migrations.AddConstraint(
            model_name='purchaseorder',
            constraint=models.CheckConstraint(condition=models.Q(('billing_status__in', ['not_invoiced', 'partially_invoiced', 'invoiced', 'paid'])), name='suppliers_purchaseorder_billing_status_known'),
        ),
        migrations.AddConstraint(
            model_name='purchaseorder',
            constraint=models.CheckConstraint(condition=models.Q(('priority__in', ['routine', 'urgent', 'emergency'])), name='suppliers_purchaseorder_priority_known'),
        ),
        migrations.AddConstraint(
            model_name='purchaseorder',
            constraint=models.CheckConstraint(condition=models.Q(('status', 'pending_approval'), ('approval_for', ''), _connector='XOR'), name='suppliers_purchaseorder_approval'),
        ),
        migrations.AddConstraint(
            model_name='purchaseorder',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('status', 'change_proposed'), _negated=True), models.Q(('proposed_by', ''), _negated=True), _connector='OR'), name='suppliers_purchaseorder_change_of_whom'),
        ),
        migrations.AddConstraint(
            model_name='purchaseorder',
            constraint=models.CheckConstraint(condition=models.Q(('before_change', ''), ('status__in', ('change_proposed', 'pending_approval')), _connector='OR'), name='suppliers_purchaseorder_before_change'),
        ),
        migrations.AddConstraint(
            model_name='purchaseorder',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('order_number__gt', ''), ('sent_at__isnull', False)), models.Q(('order_number', ''), ('sent_at__isnull', True), ('status__in', ('draft', 'pending_approval', 'cancelled'))), _connector='OR'), name='suppliers_purchaseorder_sent'),
        ),
        migrations.AddConstraint(
            model_name='purchaseorder',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('status', 'accepted'), _negated=True), ('accepted_at__isnull', False), _connector='OR'), name='suppliers_purchaseorder_accepted'),
        ),
        migrations.AddConstraint(
            model_name='purchaseorder',
            constraint=models.CheckConstraint(condition=models.Q(('gross__gte', models.F('net')), ('lines_total__range', (1, 500)), ('net__gte', 0), ('revision__gte', 1), models.Q(('min_remaining_shelf_life_days__isnull', True), ('min_remaining_shelf_life_days__gte', 0), _connector='OR')), name='suppliers_purchaseorder_amounts'),
        ),
        migrations.AddIndex(
            model_name='purchaseorderline',
            index=models.Index(condition=models.Q(('product_id__isnull', False)), fields=['tenant', 'product_id', 'order'], name='suppliers_orderline_product'),
        ),
        migrations.AddConstraint(
            model_name='purchaseorderline',
            constraint=models.UniqueConstraint(fields=('tenant', 'order', 'line_no'), name='suppliers_orderline_number'),
        ),
        migrations.AddConstraint(
            model_name='purchaseorderline',
            constraint=models.CheckConstraint(condition=models.Q(('ordered__gte', django.db.models.expressions.CombinedExpression(django.db.models.expressions.CombinedExpression(models.F('accepted'), '+', models.F('backordered')), '+', models.F('cancelled'))), ('received__lte', models.F('shipped')), ('returned__lte', models.F('received')), ('shipped__lte', django.db.models.expressions.CombinedExpression(django.db.models.expressions.CombinedExpression(django.db.models.expressions.CombinedExpression(models.F('accepted'), '+', models.F('tolerance')), '+', models.F('rejected')), '+', models.F('short')))), name='suppliers_orderline_counters'),
        ),
        migrations.AddConstraint(
            model_name='purchaseorderline',
            constraint=models.CheckConstraint(condition=models.Q(('invoiced__lte', models.F('ordered')), ('invoiced__lte', models.F('shipped')), _connector='OR'), name='suppliers_orderline_invoiced'),
        ),
        migrations.AddConstraint(
            model_name='purchaseorderline',
            constraint=models.CheckConstraint(condition=models.Q(('ordered__gte', 1), ('price_base_quantity__gte', 1), ('quantity__gte', 1), ('units_per_pack__gte', 1), ('net__gte', 0), ('unit_price__gte', 0)), name='suppliers_orderline_amounts'),
        ),
        migrations.AddConstraint(
            model_name='purchaseorderline',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('packaging_id__isnull', False), ('product_id__isnull', False)), models.Q(('offer_id__isnull', True), ('packaging_id__isnull', True), ('product_id__isnull', True)), _connector='OR'), name='suppliers_orderline_goods'),
        ),
        migrations.AddIndex(
            model_name='receivedorder',
            index=models.Index(fields=['tenant', 'received_at', 'id'], name='suppliers_recorder_by_time'),
        ),
        migrations.AddIndex(
            model_name='receivedorder',
            index=models.Index(fields=['tenant', 'updated_at', 'id'], name='suppliers_recorder_by_updated'),
        ),
        migrations.AddIndex(
            model_name='receivedorder',
            index=models.Index(fields=['tenant', 'status', 'received_at', 'id'], name='suppliers_recorder_by_status'),
        ),
        migrations.AddIndex(
            model_name='receivedorder',
            index=models.Index(fields=['tenant', 'owner_tenant_id', 'received_at', 'id'], name='suppliers_recorder_by_owner'),
        ),
        migrations.AddIndex(
            model_name='receivedorder',
            index=models.Index(fields=['tenant', 'number', 'id'], name='suppliers_recorder_by_number'),
        ),
        migrations.AddIndex(
            model_name='receivedorderline',
            index=models.Index(fields=['tenant', 'document_id', 'line_no'], name='suppliers_recorderline_number'),
        ),
        migrations.AddIndex(
            model_name='receivedorderline',
            index=models.Index(fields=['tenant', 'product_id', 'document_id'], name='suppliers_recorderline_product'),
        ),
        migrations.AddIndex(
            model_name='receivedorderline',
            index=models.Index(condition=models.Q(('backordered__gt', 0)), fields=['tenant', 'product_id', 'document_id'], name='suppliers_recorderline_open'),
        ),
    ]
