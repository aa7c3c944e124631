"""Returns of buyers with their lines, what their suppliers have of them, and the order that replaces what came back.

Safe: new tables, a nullable column without a default, and a choice more of the kinds of numbers.
"""

import core.clock
import core.ids
import django.db.models.deletion
import django.db.models.expressions
import django.db.models.functions.datetime
import django_fsm
import suppliers.returns.course
from decimal import Decimal
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('organizations', '0011_managed_tenants'),
        ('suppliers', '0040_payments'),
    ]

    operations = [
        migrations.AddField(
            model_name='purchaseorder',
            name='return_id',
            field=models.UUIDField(null=True),
        ),
        migrations.AlterField(
            model_name='documentnumber',
            name='kind',
            field=models.CharField(choices=[('purchase_order', 'Order of the tenant as buyer'), ('order', 'Order to the tenant as supplier'), ('delivery', 'Delivery to the tenant'), ('invoice', 'Invoice or credit note of the tenant as supplier'), ('return', 'Return by the tenant'), ('payment', 'Payment of the tenant')], max_length=14),
        ),
        migrations.AlterField(
            model_name='documentword',
            name='kind',
            field=models.CharField(choices=[('purchase_order', 'Order of the tenant as buyer'), ('order', 'Order to the tenant as supplier'), ('delivery', 'Delivery to the tenant'), ('invoice', 'Invoice or credit note of the tenant as supplier'), ('return', 'Return by the tenant'), ('payment', 'Payment of the tenant')], max_length=14),
        ),
        migrations.CreateModel(
            name='Return',
            fields=[
                ('updated_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), default=core.clock.now)),
                ('version', models.PositiveIntegerField(db_default=1, default=1)),
                ('id', models.UUIDField(default=core.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), default=core.clock.now, editable=False)),
                ('number', models.CharField(max_length=64)),
                ('supplier_tenant_id', models.UUIDField()),
                ('po_number', models.CharField(max_length=64)),
                ('order_number', models.CharField(max_length=64)),
                ('delivery_number', models.CharField(max_length=64)),
                ('type', models.CharField(choices=[('return', 'Return'), ('recall', 'Recall'), ('over_delivery', 'More was delivered than ordered')], default='return', max_length=13)),
                ('status', django_fsm.FSMField(choices=[('requested', 'Requested'), ('authorized', 'Authorized'), ('declined', 'Declined'), ('in_transit', 'On its way back'), ('received', 'Received by the supplier'), ('inspected', 'Inspected'), ('completed', 'Completed'), ('cancelled', 'Cancelled by the buyer')], default='requested', max_length=10, protected=True)),
                ('resolution', models.CharField(choices=[('credit', 'A credit note'), ('replacement', 'Other goods'), ('repair', 'The same goods, repaired')], default='credit', max_length=11)),
                ('currency', models.CharField(max_length=3)),
                ('note', models.CharField(blank=True, default='', max_length=5000)),
                ('file_ids', models.JSONField(default=list)),
                ('requested_at', models.DateTimeField()),
                ('decided_at', models.DateTimeField(null=True)),
                ('valid_until', models.DateTimeField(null=True)),
                ('instructions', models.CharField(blank=True, default='', max_length=2000)),
                ('decline_reason', models.CharField(blank=True, default='', max_length=2000)),
                ('carrier', models.CharField(blank=True, default='', max_length=120)),
                ('tracking_number', models.CharField(blank=True, default='', max_length=120)),
                ('shipped_at', models.DateTimeField(null=True)),
                ('received_at', models.DateTimeField(null=True)),
                ('completed_at', models.DateTimeField(null=True)),
                ('cancelled_at', models.DateTimeField(null=True)),
                ('credit_note_id', models.UUIDField(null=True)),
                ('replacement_order_id', models.UUIDField(null=True)),
                ('lines_total', models.IntegerField()),
                ('shared_version', models.IntegerField(default=1)),
                ('delivery', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='suppliers.delivery')),
                ('delivery_location', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='organizations.location')),
                ('order', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='suppliers.purchaseorder')),
                ('tenant', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='organizations.tenant')),
            ],
            options={
                'verbose_name': 'return',
            },
            bases=(suppliers.returns.course.Course, django_fsm.ConcurrentTransitionMixin, models.Model),
        ),
        migrations.CreateModel(
            name='ReturnLine',
            fields=[
                ('updated_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), default=core.clock.now)),
                ('version', models.PositiveIntegerField(db_default=1, default=1)),
                ('id', models.UUIDField(default=core.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), default=core.clock.now, editable=False)),
                ('line_no', models.IntegerField()),
                ('product_id', models.UUIDField(null=True)),
                ('name', models.CharField(max_length=255)),
                ('supplier_sku', models.CharField(blank=True, default='', max_length=64)),
                ('gtin', models.CharField(blank=True, default='', max_length=14)),
                ('category', models.CharField(blank=True, default='', max_length=64)),
                ('packaging', models.JSONField(null=True)),
                ('base_unit', models.CharField(max_length=3)),
                ('units_per_pack', models.BigIntegerField(default=1)),
                ('unit', models.CharField(max_length=4)),
                ('base_quantity', models.BigIntegerField()),
                ('lot_id', models.UUIDField(null=True)),
                ('lot_number', models.CharField(blank=True, default='', max_length=20)),
                ('expiry_date', models.DateField(null=True)),
                ('cold_chain', models.BooleanField(default=False)),
                ('serial_numbers', models.JSONField(default=list)),
                ('reason_code', models.CharField(choices=[('damaged', 'Damaged'), ('expired', 'Expired'), ('short_dated', 'Too short a shelf life'), ('wrong_item', 'Another item'), ('not_needed', 'Not needed'), ('recalled', 'Recalled'), ('quality', 'Poor quality'), ('temperature', 'Too warm or too cold')], max_length=11)),
                ('condition', models.CharField(choices=[('sealed', 'Sealed'), ('opened', 'Opened'), ('damaged', 'Damaged')], default='sealed', max_length=7)),
                ('received', models.BigIntegerField(null=True)),
                ('restocked', models.BigIntegerField(default=0)),
                ('quarantined', models.BigIntegerField(default=0)),
                ('destroyed', models.BigIntegerField(default=0)),
                ('to_manufacturer', models.BigIntegerField(default=0)),
                ('not_received', models.BigIntegerField(default=0)),
                ('file_ids', models.JSONField(default=list)),
                ('credited', models.BigIntegerField(default=0)),
                ('credited_amount', models.DecimalField(decimal_places=4, max_digits=19, null=True)),
                ('stock', models.JSONField(null=True)),
                ('delivery_line', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='suppliers.deliveryline')),
                ('document', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='lines', to='suppliers.return')),
                ('order_line', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='suppliers.purchaseorderline')),
                ('tenant', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='organizations.tenant')),
            ],
        ),
        migrations.CreateModel(
            name='ReturnPrivate',
            fields=[
                ('updated_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), default=core.clock.now)),
                ('version', models.PositiveIntegerField(db_default=1, default=1)),
                ('id', models.UUIDField(default=core.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), default=core.clock.now, editable=False)),
                ('location_id', models.UUIDField()),
                ('stock', models.JSONField(default=dict)),
                ('witnesses', models.JSONField(default=list)),
                ('tenant', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='organizations.tenant')),
            ],
            options={
                'abstract': False,
            },
        ),
        migrations.CreateModel(
            name='ReceivedReturn',
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
                ('delivery_id', models.UUIDField()),
                ('po_number', models.CharField(max_length=64)),
                ('order_number', models.CharField(max_length=64)),
                ('delivery_number', models.CharField(max_length=64)),
                ('type', models.CharField(max_length=13)),
                ('tenant', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='organizations.tenant')),
            ],
            options={
                'indexes': [models.Index(fields=['tenant', 'received_at', 'id'], name='suppliers_recreturn_by_time'), models.Index(fields=['tenant', 'updated_at', 'id'], name='suppliers_recreturn_by_updated'), models.Index(fields=['tenant', 'status', 'received_at', 'id'], name='suppliers_recreturn_by_status'), models.Index(fields=['tenant', 'owner_tenant_id', 'received_at', 'id'], name='suppliers_recreturn_by_owner'), models.Index(fields=['tenant', 'delivery_id', 'id'], name='suppliers_recreturn_delivery')],
            },
        ),
        migrations.AddIndex(
            model_name='return',
            index=models.Index(fields=['tenant', 'created_at', 'id'], name='suppliers_return_by_created'),
        ),
        migrations.AddIndex(
            model_name='return',
            index=models.Index(fields=['tenant', 'updated_at', 'id'], name='suppliers_return_by_updated'),
        ),
        migrations.AddIndex(
            model_name='return',
            index=models.Index(fields=['tenant', 'status', 'created_at', 'id'], name='suppliers_return_by_status'),
        ),
        migrations.AddIndex(
            model_name='return',
            index=models.Index(fields=['tenant', 'supplier_tenant_id', 'created_at', 'id'], name='suppliers_return_by_supplier'),
        ),
        migrations.AddIndex(
            model_name='return',
            index=models.Index(fields=['tenant', 'delivery', 'id'], name='suppliers_return_of_delivery'),
        ),
        migrations.AddIndex(
            model_name='return',
            index=models.Index(fields=['tenant', 'order', 'id'], name='suppliers_return_of_order'),
        ),
        migrations.AddConstraint(
            model_name='return',
            constraint=models.UniqueConstraint(fields=('tenant', 'number'), name='suppliers_return_number'),
        ),
        migrations.AddConstraint(
            model_name='return',
            constraint=models.CheckConstraint(condition=models.Q(('supplier_tenant_id', models.F('tenant')), _negated=True), name='suppliers_return_two_parties'),
        ),
        migrations.AddConstraint(
            model_name='return',
            constraint=models.CheckConstraint(condition=models.Q(('resolution__in', ['credit', 'replacement', 'repair']), ('status__in', ('requested', 'authorized', 'declined', 'in_transit', 'received', 'completed', 'cancelled')), ('type__in', ['return', 'recall', 'over_delivery'])), name='suppliers_return_known'),
        ),
        migrations.AddConstraint(
            model_name='return',
            constraint=models.CheckConstraint(condition=models.Q(('lines_total__range', (1, 500)), ('shared_version__gte', 1)), name='suppliers_return_amounts'),
        ),
        migrations.AddConstraint(
            model_name='return',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(models.Q(('status__in', ('in_transit', 'received', 'completed')), _negated=True), models.Q(('decided_at__isnull', False), ('shipped_at__isnull', False)), _connector='OR'), models.Q(models.Q(('status__in', ('received', 'completed')), _negated=True), ('received_at__isnull', False), _connector='OR'), models.Q(('status', 'completed'), ('completed_at__isnull', True), _connector='XOR'), models.Q(('status', 'cancelled'), ('cancelled_at__isnull', True), _connector='XOR'), models.Q(models.Q(('status', 'authorized'), _negated=True), ('decided_at__isnull', False), _connector='OR')), name='suppliers_return_times'),
        ),
        migrations.AddConstraint(
            model_name='return',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('credit_note_id__isnull', True), ('resolution', 'credit'), _connector='OR'), models.Q(('replacement_order_id__isnull', True), models.Q(('resolution', 'credit'), _negated=True), _connector='OR')), name='suppliers_return_followed'),
        ),
        migrations.AddIndex(
            model_name='returnline',
            index=models.Index(fields=['tenant', 'delivery_line', 'id'], name='suppliers_returnline_delivered'),
        ),
        migrations.AddIndex(
            model_name='returnline',
            index=models.Index(fields=['tenant', 'order_line', 'id'], name='suppliers_returnline_ordered'),
        ),
        migrations.AddConstraint(
            model_name='returnline',
            constraint=models.UniqueConstraint(fields=('tenant', 'document', 'line_no'), name='suppliers_returnline_number'),
        ),
        migrations.AddConstraint(
            model_name='returnline',
            constraint=models.UniqueConstraint(fields=('tenant', 'document', 'delivery_line'), name='suppliers_returnline_once'),
        ),
        migrations.AddConstraint(
            model_name='returnline',
            constraint=models.CheckConstraint(condition=models.Q(('condition__in', ['sealed', 'opened', 'damaged']), ('reason_code__in', ['damaged', 'expired', 'short_dated', 'wrong_item', 'not_needed', 'recalled', 'quality', 'temperature'])), name='suppliers_returnline_known'),
        ),
        migrations.AddConstraint(
            model_name='returnline',
            constraint=models.CheckConstraint(condition=models.Q(('base_quantity__gte', 1), ('credited__gte', 0), ('line_no__gte', 1), ('units_per_pack__gte', 1), ('credited__lte', django.db.models.expressions.CombinedExpression(models.F('base_quantity'), '-', models.F('not_received'))), models.Q(('credited_amount__isnull', True), ('credited_amount__gte', Decimal('0')), _connector='OR'), models.Q(('received__isnull', True), models.Q(('received__gte', 0), ('received__lte', models.F('base_quantity'))), _connector='OR')), name='suppliers_returnline_amounts'),
        ),
        migrations.AddConstraint(
            model_name='returnline',
            constraint=models.CheckConstraint(condition=models.Q(('destroyed__gte', 0), ('not_received__gte', 0), ('quarantined__gte', 0), ('restocked__gte', 0), ('to_manufacturer__gte', 0), models.Q(('base_quantity', django.db.models.expressions.CombinedExpression(django.db.models.expressions.CombinedExpression(django.db.models.expressions.CombinedExpression(django.db.models.expressions.CombinedExpression(models.F('restocked'), '+', models.F('quarantined')), '+', models.F('destroyed')), '+', models.F('to_manufacturer')), '+', models.F('not_received'))), models.Q(('destroyed', 0), ('not_received', 0), ('quarantined', 0), ('restocked', 0), ('to_manufacturer', 0)), _connector='OR')), name='suppliers_returnline_dispositions'),
        ),
        migrations.AddConstraint(
            model_name='returnline',
            constraint=models.CheckConstraint(condition=models.Q(('received__isnull', False), models.Q(('destroyed', 0), ('not_received', 0), ('quarantined', 0), ('restocked', 0), ('to_manufacturer', 0)), _connector='OR'), name='suppliers_returnline_inspected_late'),
        ),
    ]
