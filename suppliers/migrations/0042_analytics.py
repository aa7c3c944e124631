"""Roll-ups of analytics.

Safe: a new table only.
"""

import core.ids
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('organizations', '0011_managed_tenants'),
        ('suppliers', '0041_returns'),
    ]

    operations = [
        migrations.CreateModel(
            name='RollUp',
            fields=[
                ('id', models.UUIDField(default=core.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ('tenant_id', models.UUIDField()),
                ('kind', models.CharField(choices=[('ordered', 'Ordered'), ('listed', 'Listed'), ('accepted', 'Accepted'), ('due', 'Due'), ('received', 'Received'), ('returned', 'Returned'), ('offered', 'Offered')], max_length=8)),
                ('bucket', models.DateTimeField()),
                ('due_date', models.DateField(null=True)),
                ('document_id', models.UUIDField()),
                ('line_no', models.IntegerField()),
                ('product_id', models.UUIDField(null=True)),
                ('category', models.CharField(max_length=64)),
                ('buyer_id', models.UUIDField(null=True)),
                ('location_id', models.UUIDField(null=True)),
                ('currency', models.CharField(max_length=3)),
                ('whole_at', models.DateTimeField(null=True)),
                ('entries', models.IntegerField()),
                ('quantity', models.BigIntegerField()),
                ('base', models.BigIntegerField()),
                ('net', models.DecimalField(decimal_places=4, max_digits=19)),
                ('list_net', models.DecimalField(decimal_places=4, max_digits=19)),
            ],
            options={
                'indexes': [models.Index(fields=['tenant_id', 'kind', 'bucket'], name='suppliers_rollup_by_time'), models.Index(fields=['tenant_id', 'document_id'], name='suppliers_rollup_by_document'), models.Index(condition=models.Q(('kind', 'accepted')), fields=['tenant_id', 'bucket'], include=('document_id', 'currency', 'entries', 'quantity'), name='suppliers_rollup_accepted'), models.Index(condition=models.Q(('due_date__isnull', False)), fields=['tenant_id', 'due_date'], name='suppliers_rollup_by_day')],
                'constraints': [models.CheckConstraint(condition=models.Q(('kind__in', ['ordered', 'listed', 'accepted', 'due', 'received', 'returned', 'offered'])), name='suppliers_rollup_kind_known'), models.CheckConstraint(condition=models.Q(models.Q(('due_date__isnull', False), ('kind', 'due')), models.Q(models.Q(('kind', 'due'), _negated=True), ('due_date__isnull', True)), _connector='OR'), name='suppliers_rollup_due')],
            },
        ),
    ]
