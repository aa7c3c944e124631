"""Invoices and credit notes of buyers, and what their suppliers have of them.

Safe: new tables only, and a choice more of the kinds of numbers.
"""

import core.clock
import core.ids
import django.db.models.deletion
import django.db.models.expressions
import django.db.models.functions.datetime
import django_fsm
import suppliers.invoices.course
from decimal import Decimal
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('organizations', '0011_managed_tenants'),
        ('suppliers', '0036_words_of_orders'),
    ]

    operations = [
        migrations.AlterField(
            model_name='documentnumber',
            name='kind',
            field=models.CharField(choices=[('purchase_order', 'Order of the tenant as buyer'), ('order', 'Order to the tenant as supplier'), ('delivery', 'Delivery to the tenant'), ('invoice', 'Invoice or credit note of the tenant as supplier')], max_length=14),
        ),
        migrations.CreateModel(
            name='Invoice',
            fields=[
                ('updated_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), default=core.clock.now)),
                ('version', models.PositiveIntegerField(db_default=1, default=1)),
                ('id', models.UUIDField(default=core.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), default=core.clock.now, editable=False)),
                ('number', models.CharField(max_length=64)),
                ('supplier_tenant_id', models.UUIDField()),
                ('type', models.CharField(choices=[('invoice', 'Invoice of what was shipped'), ('credit_note', 'Credit note of an invoice'), ('prepayment', 'Invoice of what is ordered, before it is shipped')], max_length=11)),
                ('po_number', models.CharField(max_length=64)),
                ('order_number', models.CharField(max_length=64)),
                ('delivery_ids', models.JSONField(default=list)),
                ('status', django_fsm.FSMField(choices=[('issued', 'Issued'), ('matched', 'Matches what was ordered and received'), ('mismatched', 'Differs from what was ordered or received'), ('approved', 'Released for payment'), ('disputed', 'Under query'), ('partially_paid', 'A part is paid'), ('paid', 'Paid'), ('rejected', 'Rejected'), ('cancelled', 'Withdrawn by the supplier')], default='issued', max_length=14, protected=True)),
                ('issue_date', models.DateField()),
                ('due_date', models.DateField(null=True)),
                ('currency', models.CharField(max_length=3)),
                ('charges', models.JSONField(default=list)),
                ('allowances', models.JSONField(default=list)),
                ('discount', models.JSONField(null=True)),
                ('return_id', models.UUIDField(null=True)),
                ('file_ids', models.JSONField(default=list)),
                ('stated_totals', models.JSONField(null=True)),
                ('net_total', models.DecimalField(decimal_places=4, max_digits=19)),
                ('tax_total', models.DecimalField(decimal_places=4, max_digits=19, null=True)),
                ('gross_total', models.DecimalField(decimal_places=4, max_digits=19)),
                ('taxes', models.JSONField(default=list)),
                ('lines_total', models.IntegerField()),
                ('credited_total', models.DecimalField(db_default=Decimal('0'), decimal_places=4, default=Decimal('0'), max_digits=19)),
                ('held_total', models.DecimalField(db_default=Decimal('0'), decimal_places=4, default=Decimal('0'), max_digits=19)),
                ('paid_total', models.DecimalField(db_default=Decimal('0'), decimal_places=4, default=Decimal('0'), max_digits=19)),
                ('offset_total', models.DecimalField(db_default=Decimal('0'), decimal_places=4, default=Decimal('0'), max_digits=19)),
                ('issued_at', models.DateTimeField()),
                ('match_status', models.CharField(blank=True, choices=[('matched', 'Every line is right'), ('mismatched', 'A line differs')], default='', max_length=10)),
                ('match_checked_at', models.DateTimeField(null=True)),
                ('dispute_reason', models.CharField(blank=True, choices=[('quantity', 'The quantity is wrong'), ('price', 'A price is wrong'), ('tax', 'A tax is wrong'), ('not_received', 'The goods did not come'), ('damaged', 'The goods came damaged'), ('wrong_item', 'Other goods came'), ('duplicate', 'It was invoiced before'), ('terms', 'The terms are others than agreed'), ('other', 'Another reason')], default='', max_length=12)),
                ('dispute_note', models.CharField(blank=True, default='', max_length=2000)),
                ('disputed_at', models.DateTimeField(null=True)),
                ('approved_at', models.DateTimeField(null=True)),
                ('approved_by_id', models.UUIDField(null=True)),
                ('override_reason', models.CharField(blank=True, default='', max_length=2000)),
                ('reason', models.CharField(blank=True, default='', max_length=2000)),
                ('ended_at', models.DateTimeField(null=True)),
                ('paid_at', models.DateTimeField(null=True)),
                ('recorded_by_id', models.UUIDField(null=True)),
                ('shared_version', models.IntegerField(default=1)),
                ('delivery_location', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='organizations.location')),
                ('order', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='suppliers.purchaseorder')),
                ('original', models.ForeignKey(db_constraint=False, db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='credit_notes', to='suppliers.invoice')),
                ('tenant', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='organizations.tenant')),
            ],
            options={
                'verbose_name': 'invoice',
            },
            bases=(suppliers.invoices.course.Course, django_fsm.ConcurrentTransitionMixin, models.Model),
        ),
        migrations.CreateModel(
            name='InvoiceLine',
            fields=[
                ('updated_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), default=core.clock.now)),
                ('version', models.PositiveIntegerField(db_default=1, default=1)),
                ('id', models.UUIDField(default=core.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), default=core.clock.now, editable=False)),
                ('line_no', models.IntegerField()),
                ('order_line_no', models.IntegerField()),
                ('product_id', models.UUIDField(null=True)),
                ('packaging_id', models.UUIDField(null=True)),
                ('name', models.CharField(max_length=255)),
                ('supplier_sku', models.CharField(blank=True, default='', max_length=64)),
                ('gtin', models.CharField(blank=True, default='', max_length=14)),
                ('category', models.CharField(blank=True, default='', max_length=64)),
                ('is_service', models.BooleanField(default=False)),
                ('base_unit', models.CharField(max_length=3)),
                ('units_per_pack', models.BigIntegerField(default=1)),
                ('unit', models.CharField(max_length=4)),
                ('base_quantity', models.BigIntegerField()),
                ('currency', models.CharField(max_length=3)),
                ('unit_price', models.DecimalField(decimal_places=6, max_digits=19)),
                ('price_base_quantity', models.IntegerField(default=1)),
                ('allowance', models.DecimalField(db_default=Decimal('0'), decimal_places=4, default=Decimal('0'), max_digits=19)),
                ('net', models.DecimalField(decimal_places=4, max_digits=19)),
                ('tax_category', models.CharField(blank=True, default='', max_length=20)),
                ('tax_rate', models.DecimalField(decimal_places=4, max_digits=7, null=True)),
                ('frees', models.BooleanField(default=True)),
                ('credited', models.BigIntegerField(db_default=0, default=0)),
                ('credited_net', models.DecimalField(db_default=Decimal('0'), decimal_places=4, default=Decimal('0'), max_digits=19)),
                ('result', models.CharField(blank=True, choices=[('ok', 'As ordered and received'), ('not_received', 'Nothing is accepted yet'), ('quantity_over', 'More than was received'), ('price_over', 'Dearer than ordered'), ('not_ordered', 'Not ordered, or cancelled'), ('tax_differs', 'Another tax than ordered')], default='', max_length=13)),
                ('quantity_variance', models.BigIntegerField(null=True)),
                ('price_variance', models.DecimalField(decimal_places=6, max_digits=19, null=True)),
                ('delivery_line', models.ForeignKey(db_constraint=False, db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='suppliers.deliveryline')),
                ('invoice', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='lines', to='suppliers.invoice')),
                ('order_line', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='suppliers.purchaseorderline')),
                ('tenant', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='organizations.tenant')),
            ],
        ),
        migrations.CreateModel(
            name='ReceivedInvoice',
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
                ('order_id', models.UUIDField()),
                ('type', models.CharField(choices=[('invoice', 'Invoice of what was shipped'), ('credit_note', 'Credit note of an invoice'), ('prepayment', 'Invoice of what is ordered, before it is shipped')], max_length=11)),
                ('order_number', models.CharField(max_length=64)),
                ('po_number', models.CharField(max_length=64)),
                ('issue_date', models.DateField()),
                ('tenant', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='organizations.tenant')),
            ],
        ),
        migrations.AddIndex(
            model_name='invoice',
            index=models.Index(fields=['tenant', 'issue_date', 'id'], name='suppliers_invoice_by_date'),
        ),
        migrations.AddIndex(
            model_name='invoice',
            index=models.Index(fields=['tenant', 'created_at', 'id'], name='suppliers_invoice_by_created'),
        ),
        migrations.AddIndex(
            model_name='invoice',
            index=models.Index(fields=['tenant', 'updated_at', 'id'], name='suppliers_invoice_by_updated'),
        ),
        migrations.AddIndex(
            model_name='invoice',
            index=models.Index(fields=['tenant', 'status', 'created_at', 'id'], name='suppliers_invoice_by_status'),
        ),
        migrations.AddIndex(
            model_name='invoice',
            index=models.Index(fields=['tenant', 'supplier_tenant_id', 'created_at', 'id'], name='suppliers_invoice_supplier'),
        ),
        migrations.AddIndex(
            model_name='invoice',
            index=models.Index(fields=['tenant', 'delivery_location', 'created_at', 'id'], name='suppliers_invoice_location'),
        ),
        migrations.AddIndex(
            model_name='invoice',
            index=models.Index(fields=['tenant', 'order', 'id'], name='suppliers_invoice_of_order'),
        ),
        migrations.AddIndex(
            model_name='invoice',
            index=models.Index(condition=models.Q(('original__isnull', False)), fields=['tenant', 'original', 'id'], name='suppliers_invoice_credits'),
        ),
        migrations.AddConstraint(
            model_name='invoice',
            constraint=models.UniqueConstraint(fields=('tenant', 'supplier_tenant_id', 'number'), name='suppliers_invoice_number'),
        ),
        migrations.AddConstraint(
            model_name='invoice',
            constraint=models.CheckConstraint(condition=models.Q(('supplier_tenant_id', models.F('tenant')), _negated=True), name='suppliers_invoice_two_parties'),
        ),
        migrations.AddConstraint(
            model_name='invoice',
            constraint=models.CheckConstraint(condition=models.Q(('dispute_reason__in', ['quantity', 'price', 'tax', 'not_received', 'damaged', 'wrong_item', 'duplicate', 'terms', 'other', '']), ('match_status__in', ['matched', 'mismatched', '']), ('status__in', ['issued', 'matched', 'mismatched', 'approved', 'disputed', 'partially_paid', 'paid', 'rejected', 'cancelled']), ('type__in', ['invoice', 'credit_note', 'prepayment'])), name='suppliers_invoice_known'),
        ),
        migrations.AddConstraint(
            model_name='invoice',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('type', 'credit_note'), ('original__isnull', False), ('status', 'issued')), models.Q(models.Q(('type', 'credit_note'), _negated=True), ('original__isnull', True), ('return_id__isnull', True)), _connector='OR'), name='suppliers_invoice_credit_note'),
        ),
        migrations.AddConstraint(
            model_name='invoice',
            constraint=models.CheckConstraint(condition=models.Q(('gross_total__gte', models.F('net_total')), ('lines_total__range', (1, 500)), ('net_total__gte', 0)), name='suppliers_invoice_amounts'),
        ),
        migrations.AddConstraint(
            model_name='invoice',
            constraint=models.CheckConstraint(condition=models.Q(('credited_total__gte', 0), ('held_total__gte', 0), ('offset_total__gte', 0), ('paid_total__gte', 0)), name='suppliers_invoice_no_less_than_nothing'),
        ),
        migrations.AddConstraint(
            model_name='invoice',
            constraint=models.CheckConstraint(condition=models.Q(('credited_total__lte', models.F('gross_total')), ('offset_total__lte', models.F('credited_total'))), name='suppliers_invoice_credited'),
        ),
        migrations.AddConstraint(
            model_name='invoice',
            constraint=models.CheckConstraint(condition=models.Q(('held_total__lte', django.db.models.expressions.CombinedExpression(models.F('gross_total'), '-', models.F('paid_total')))), name='suppliers_invoice_paid_once'),
        ),
        migrations.AddConstraint(
            model_name='invoice',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('held_total', 0), ('offset_total', 0), ('paid_total', 0)), ('status__in', ('approved', 'partially_paid', 'paid')), _connector='OR'), name='suppliers_invoice_paid_if_approved'),
        ),
        migrations.AddConstraint(
            model_name='invoice',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('status__in', ('approved', 'partially_paid', 'paid')), _negated=True), ('approved_at__isnull', False), _connector='OR'), name='suppliers_invoice_approved'),
        ),
        migrations.AddConstraint(
            model_name='invoice',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('dispute_reason__gt', ''), ('disputed_at__isnull', False), ('status', 'disputed')), models.Q(models.Q(('status', 'disputed'), _negated=True), ('dispute_note', ''), ('dispute_reason', ''), ('disputed_at__isnull', True)), _connector='OR'), name='suppliers_invoice_disputed'),
        ),
        migrations.AddConstraint(
            model_name='invoice',
            constraint=models.CheckConstraint(condition=models.Q(('status__in', ('rejected', 'cancelled')), ('ended_at__isnull', True), _connector='XOR'), name='suppliers_invoice_ended'),
        ),
        migrations.AddConstraint(
            model_name='invoice',
            constraint=models.CheckConstraint(condition=models.Q(('status', 'paid'), ('paid_at__isnull', True), _connector='XOR'), name='suppliers_invoice_paid_at'),
        ),
        migrations.AddIndex(
            model_name='invoiceline',
            index=models.Index(fields=['tenant', 'order_line', 'id'], name='suppliers_invoiceline_ordered'),
        ),
        migrations.AddIndex(
            model_name='invoiceline',
            index=models.Index(condition=models.Q(('delivery_line__isnull', False)), fields=['tenant', 'delivery_line', 'id'], name='suppliers_invoiceline_shipped'),
        ),
        migrations.AddConstraint(
            model_name='invoiceline',
            constraint=models.UniqueConstraint(fields=('tenant', 'invoice', 'line_no'), name='suppliers_invoiceline_number'),
        ),
        migrations.AddConstraint(
            model_name='invoiceline',
            constraint=models.CheckConstraint(condition=models.Q(('result__in', ['ok', 'not_received', 'quantity_over', 'price_over', 'not_ordered', 'tax_differs', ''])), name='suppliers_invoiceline_result_known'),
        ),
        migrations.AddConstraint(
            model_name='invoiceline',
            constraint=models.CheckConstraint(condition=models.Q(('base_quantity__gte', 1), ('line_no__gte', 1), ('price_base_quantity__gte', 1), ('units_per_pack__gte', 1), ('allowance__gte', 0), ('net__gte', 0), ('unit_price__gte', 0), models.Q(('tax_rate__isnull', True), ('tax_rate__gte', 0), _connector='OR')), name='suppliers_invoiceline_amounts'),
        ),
        migrations.AddConstraint(
            model_name='invoiceline',
            constraint=models.CheckConstraint(condition=models.Q(('credited__gte', 0), ('credited__lte', models.F('base_quantity')), ('credited_net__gte', 0), ('credited_net__lte', models.F('net'))), name='suppliers_invoiceline_credited'),
        ),
        migrations.AddIndex(
            model_name='receivedinvoice',
            index=models.Index(fields=['tenant', 'issue_date', 'id'], name='suppliers_recinvoice_by_date'),
        ),
        migrations.AddIndex(
            model_name='receivedinvoice',
            index=models.Index(fields=['tenant', 'received_at', 'id'], name='suppliers_recinvoice_by_time'),
        ),
        migrations.AddIndex(
            model_name='receivedinvoice',
            index=models.Index(fields=['tenant', 'updated_at', 'id'], name='suppliers_recinvoice_updated'),
        ),
        migrations.AddIndex(
            model_name='receivedinvoice',
            index=models.Index(fields=['tenant', 'status', 'received_at', 'id'], name='suppliers_recinvoice_status'),
        ),
        migrations.AddIndex(
            model_name='receivedinvoice',
            index=models.Index(fields=['tenant', 'owner_tenant_id', 'received_at', 'id'], name='suppliers_recinvoice_owner'),
        ),
        migrations.AddIndex(
            model_name='receivedinvoice',
            index=models.Index(fields=['tenant', 'order_id', 'id'], name='suppliers_recinvoice_of_order'),
        ),
    ]
