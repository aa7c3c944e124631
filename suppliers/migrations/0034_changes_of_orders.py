"""Proposed changes of orders.

Safe: a new table only.
"""

import core.clock
import core.ids
import django.db.models.deletion
import django.db.models.functions.datetime
from decimal import Decimal
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('organizations', '0011_managed_tenants'),
        ('suppliers', '0033_receipts'),
    ]

    operations = [
        migrations.CreateModel(
            name='OrderChange',
            fields=[
                ('updated_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), default=core.clock.now)),
                ('version', models.PositiveIntegerField(db_default=1, default=1)),
                ('id', models.UUIDField(default=core.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), default=core.clock.now, editable=False)),
                ('proposed_by', models.CharField(choices=[('buyer', 'Buyer'), ('supplier', 'Supplier')], max_length=8)),
                ('author_id', models.UUIDField(null=True)),
                ('state', models.CharField(choices=[('open', 'Not answered'), ('accepted', 'Accepted'), ('declined', 'Declined'), ('withdrawn', 'Withdrawn')], default='open', max_length=9)),
                ('revision', models.IntegerField()),
                ('reason', models.CharField(blank=True, default='', max_length=500)),
                ('header', models.JSONField(default=dict)),
                ('lines', models.JSONField(default=list)),
                ('added', models.JSONField(default=list)),
                ('net', models.DecimalField(decimal_places=4, max_digits=19)),
                ('tax', models.DecimalField(decimal_places=4, max_digits=19, null=True)),
                ('gross', models.DecimalField(decimal_places=4, max_digits=19)),
                ('taxes', models.JSONField(default=list)),
                ('more_gross', models.DecimalField(db_default=Decimal('0'), decimal_places=4, default=Decimal('0'), max_digits=19)),
                ('more', models.JSONField(default=dict)),
                ('decided_at', models.DateTimeField(null=True)),
                ('order', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='changes', to='suppliers.purchaseorder')),
                ('tenant', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='organizations.tenant')),
            ],
            options={
                'verbose_name': 'change of an order',
                'constraints': [models.UniqueConstraint(condition=models.Q(('state', 'open')), fields=('tenant', 'order', 'proposed_by'), name='suppliers_orderchange_one_open'), models.CheckConstraint(condition=models.Q(('state__in', ['open', 'accepted', 'declined', 'withdrawn'])), name='suppliers_orderchange_state_known'), models.CheckConstraint(condition=models.Q(('proposed_by__in', ['buyer', 'supplier'])), name='suppliers_orderchange_party_known'), models.CheckConstraint(condition=models.Q(('proposed_by', 'buyer'), ('author_id__isnull', True), _connector='XOR'), name='suppliers_orderchange_author'), models.CheckConstraint(condition=models.Q(('state', 'open'), ('decided_at__isnull', False), _connector='XOR'), name='suppliers_orderchange_decided'), models.CheckConstraint(condition=models.Q(('gross__gte', models.F('net')), ('more_gross__gte', 0), ('net__gte', 0), ('revision__gte', 1)), name='suppliers_orderchange_amounts'), models.CheckConstraint(condition=models.Q(('state', 'open'), models.Q(('more', {}), ('more_gross', 0)), _connector='OR'), name='suppliers_orderchange_held')],
            },
        ),
    ]
