"""Payments of buyers with what they pay, and what their suppliers have received of them.

Safe: new tables only, and a choice more of the kinds of numbers.
"""

import core.clock
import core.ids
import django.db.models.deletion
import django.db.models.functions.datetime
import django_fsm
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('organizations', '0011_managed_tenants'),
        ('suppliers', '0039_invoices'),
    ]

    operations = [
        migrations.AlterField(
            model_name='documentnumber',
            name='kind',
            field=models.CharField(choices=[('purchase_order', 'Order of the tenant as buyer'), ('order', 'Order to the tenant as supplier'), ('delivery', 'Delivery to the tenant'), ('invoice', 'Invoice or credit note of the tenant as supplier'), ('payment', 'Payment of the tenant')], max_length=14),
        ),
        migrations.CreateModel(
            name='Payment',
            fields=[
                ('updated_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), default=core.clock.now)),
                ('version', models.PositiveIntegerField(db_default=1, default=1)),
                ('id', models.UUIDField(default=core.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), default=core.clock.now, editable=False)),
                ('number', models.CharField(max_length=64)),
                ('supplier_tenant_id', models.UUIDField()),
                ('status', django_fsm.FSMField(choices=[('pending', 'Not sent to the bank yet'), ('processing', 'Sent to the bank'), ('succeeded', 'Paid'), ('failed', 'The bank has not paid'), ('cancelled', 'Cancelled before it was sent'), ('reversed', 'Paid, and taken back')], default='pending', max_length=10, protected=True)),
                ('method', models.CharField(choices=[('bank_transfer', 'Bank transfer'), ('card', 'Card'), ('direct_debit', 'Direct debit'), ('check', 'Check'), ('offset', 'Credit of other invoices')], max_length=13)),
                ('amount', models.DecimalField(decimal_places=4, max_digits=19)),
                ('currency', models.CharField(max_length=3)),
                ('value_date', models.DateField(null=True)),
                ('provider_reference', models.CharField(blank=True, default='', max_length=140)),
                ('bank_account', models.CharField(blank=True, default='', max_length=64)),
                ('remittance_text', models.CharField(blank=True, default='', max_length=500)),
                ('failure_code', models.CharField(blank=True, default='', max_length=64)),
                ('failure_message', models.CharField(blank=True, default='', max_length=500)),
                ('location_ids', models.JSONField()),
                ('succeeded_at', models.DateTimeField(null=True)),
                ('ended_at', models.DateTimeField(null=True)),
                ('created_by_id', models.UUIDField(null=True)),
                ('confirmed_by_id', models.UUIDField(null=True)),
                ('shared_version', models.IntegerField(default=1)),
                ('tenant', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='organizations.tenant')),
            ],
            options={
                'verbose_name': 'payment',
            },
            bases=(django_fsm.ConcurrentTransitionMixin, models.Model),
        ),
        migrations.CreateModel(
            name='CreditSource',
            fields=[
                ('updated_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), default=core.clock.now)),
                ('version', models.PositiveIntegerField(db_default=1, default=1)),
                ('id', models.UUIDField(default=core.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), default=core.clock.now, editable=False)),
                ('position', models.IntegerField()),
                ('invoice_number', models.CharField(max_length=64)),
                ('currency', models.CharField(max_length=3)),
                ('amount', models.DecimalField(decimal_places=4, max_digits=19)),
                ('invoice', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='suppliers.invoice')),
                ('tenant', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='organizations.tenant')),
                ('payment', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='credit_sources', to='suppliers.payment')),
            ],
        ),
        migrations.CreateModel(
            name='PaymentAllocation',
            fields=[
                ('updated_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), default=core.clock.now)),
                ('version', models.PositiveIntegerField(db_default=1, default=1)),
                ('id', models.UUIDField(default=core.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), default=core.clock.now, editable=False)),
                ('position', models.IntegerField()),
                ('invoice_number', models.CharField(max_length=64)),
                ('currency', models.CharField(max_length=3)),
                ('amount', models.DecimalField(decimal_places=4, max_digits=19)),
                ('invoice', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='suppliers.invoice')),
                ('payment', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='allocations', to='suppliers.payment')),
                ('tenant', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='organizations.tenant')),
            ],
        ),
        migrations.CreateModel(
            name='ReceivedPayment',
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
                ('currency', models.CharField(max_length=3)),
                ('value_date', models.DateField(null=True)),
                ('tenant', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='organizations.tenant')),
            ],
        ),
        migrations.AddIndex(
            model_name='payment',
            index=models.Index(fields=['tenant', 'created_at', 'id'], name='suppliers_payment_by_created'),
        ),
        migrations.AddIndex(
            model_name='payment',
            index=models.Index(fields=['tenant', 'updated_at', 'id'], name='suppliers_payment_by_updated'),
        ),
        migrations.AddIndex(
            model_name='payment',
            index=models.Index(fields=['tenant', 'status', 'created_at', 'id'], name='suppliers_payment_by_status'),
        ),
        migrations.AddIndex(
            model_name='payment',
            index=models.Index(fields=['tenant', 'supplier_tenant_id', 'created_at', 'id'], name='suppliers_payment_supplier'),
        ),
        migrations.AddIndex(
            model_name='payment',
            index=models.Index(condition=models.Q(('status__in', ('pending', 'processing'))), fields=['created_at', 'id'], name='suppliers_payment_to_confirm'),
        ),
        migrations.AddConstraint(
            model_name='payment',
            constraint=models.UniqueConstraint(fields=('tenant', 'number'), name='suppliers_payment_number'),
        ),
        migrations.AddConstraint(
            model_name='payment',
            constraint=models.CheckConstraint(condition=models.Q(('supplier_tenant_id', models.F('tenant')), _negated=True), name='suppliers_payment_two_parties'),
        ),
        migrations.AddConstraint(
            model_name='payment',
            constraint=models.CheckConstraint(condition=models.Q(('method__in', ['bank_transfer', 'card', 'direct_debit', 'check', 'offset']), ('status__in', ['pending', 'processing', 'succeeded', 'failed', 'cancelled', 'reversed'])), name='suppliers_payment_known'),
        ),
        migrations.AddConstraint(
            model_name='payment',
            constraint=models.CheckConstraint(condition=models.Q(('amount__gt', 0)), name='suppliers_payment_amount'),
        ),
        migrations.AddConstraint(
            model_name='payment',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('method', 'offset'), _negated=True), ('status__in', ('succeeded', 'reversed')), _connector='OR'), name='suppliers_payment_offset'),
        ),
        migrations.AddConstraint(
            model_name='payment',
            constraint=models.CheckConstraint(condition=models.Q(('status__in', ('succeeded', 'reversed')), ('succeeded_at__isnull', True), _connector='XOR'), name='suppliers_payment_succeeded'),
        ),
        migrations.AddConstraint(
            model_name='payment',
            constraint=models.CheckConstraint(condition=models.Q(('status__in', ('failed', 'cancelled', 'reversed')), ('ended_at__isnull', True), _connector='XOR'), name='suppliers_payment_ended'),
        ),
        migrations.AddConstraint(
            model_name='payment',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('failure_code', ''), ('failure_message', '')), models.Q(('failure_code__gt', ''), ('status__in', ('failed', 'reversed'))), _connector='OR'), name='suppliers_payment_failure'),
        ),
        migrations.AddIndex(
            model_name='creditsource',
            index=models.Index(fields=['tenant', 'invoice', 'id'], name='suppliers_creditsource_of'),
        ),
        migrations.AddConstraint(
            model_name='creditsource',
            constraint=models.UniqueConstraint(fields=('tenant', 'payment', 'invoice'), name='suppliers_creditsource_once'),
        ),
        migrations.AddConstraint(
            model_name='creditsource',
            constraint=models.CheckConstraint(condition=models.Q(('amount__gt', 0), ('position__range', (1, 100))), name='suppliers_creditsource_amount'),
        ),
        migrations.AddIndex(
            model_name='paymentallocation',
            index=models.Index(fields=['tenant', 'invoice', 'id'], name='suppliers_paymentallocation_of'),
        ),
        migrations.AddConstraint(
            model_name='paymentallocation',
            constraint=models.UniqueConstraint(fields=('tenant', 'payment', 'invoice'), name='suppliers_paymentallocation_once'),
        ),
        migrations.AddConstraint(
            model_name='paymentallocation',
            constraint=models.CheckConstraint(condition=models.Q(('amount__gt', 0), ('position__range', (1, 100))), name='suppliers_paymentallocation_amount'),
        ),
        migrations.AddIndex(
            model_name='receivedpayment',
            index=models.Index(fields=['tenant', 'received_at', 'id'], name='suppliers_recpayment_by_time'),
        ),
        migrations.AddIndex(
            model_name='receivedpayment',
            index=models.Index(fields=['tenant', 'updated_at', 'id'], name='suppliers_recpayment_updated'),
        ),
        migrations.AddIndex(
            model_name='receivedpayment',
            index=models.Index(fields=['tenant', 'status', 'received_at', 'id'], name='suppliers_recpayment_status'),
        ),
        migrations.AddIndex(
            model_name='receivedpayment',
            index=models.Index(fields=['tenant', 'owner_tenant_id', 'received_at', 'id'], name='suppliers_recpayment_owner'),
        ),
    ]
