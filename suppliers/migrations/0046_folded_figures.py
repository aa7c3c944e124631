"""Sums of roll-ups in hours and days of UTC.

Safe: new tables only.
"""

import core.ids
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('suppliers', '0045_dates_files_words_of_orders'),
    ]

    operations = [
        migrations.CreateModel(
            name='RollUpMark',
            fields=[
                ('id', models.UUIDField(default=core.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ('tenant_id', models.UUIDField()),
                ('after_id', models.UUIDField()),
                ('upto_id', models.UUIDField()),
                ('rows', models.BigIntegerField()),
                ('created_at', models.DateTimeField()),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('tenant_id', 'after_id'), name='suppliers_rollupmark_follows_once'), models.UniqueConstraint(fields=('tenant_id', 'upto_id'), name='suppliers_rollupmark_ends_once'), models.CheckConstraint(condition=models.Q(('upto_id__gt', models.F('after_id'))), name='suppliers_rollupmark_goes_on')],
            },
        ),
        migrations.CreateModel(
            name='RollUpSum',
            fields=[
                ('id', models.UUIDField(default=core.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ('tenant_id', models.UUIDField()),
                ('kind', models.CharField(choices=[('ordered', 'Ordered'), ('listed', 'Listed'), ('accepted', 'Accepted'), ('due', 'Due'), ('received', 'Received'), ('returned', 'Returned'), ('offered', 'Offered')], max_length=8)),
                ('grouping', models.CharField(blank=True, choices=[('', 'all'), ('product', 'Product'), ('category', 'Category'), ('buyer', 'Buyer'), ('location', 'Location')], max_length=8)),
                ('span', models.CharField(choices=[('hour', 'Hour'), ('day', 'Day'), ('sliding', 'Sliding')], max_length=8)),
                ('slot', models.SmallIntegerField(default=0)),
                ('start', models.DateTimeField()),
                ('name', models.CharField(max_length=64, null=True)),
                ('currency', models.CharField(max_length=3)),
                ('whole_at', models.DateTimeField(null=True)),
                ('orders', models.BigIntegerField()),
                ('entries', models.BigIntegerField()),
                ('quantity', models.BigIntegerField()),
                ('base', models.BigIntegerField()),
                ('net', models.DecimalField(decimal_places=4, max_digits=24)),
                ('list_net', models.DecimalField(decimal_places=4, max_digits=24)),
            ],
            options={
                'indexes': [models.Index(fields=['tenant_id', 'kind', 'grouping', 'span', 'slot', 'start'], name='suppliers_rollupsum_by_time')],
                'constraints': [models.CheckConstraint(condition=models.Q(('kind__in', ['ordered', 'listed', 'accepted', 'due', 'received', 'returned', 'offered']), models.Q(('kind', 'accepted'), _negated=True)), name='suppliers_rollupsum_kind_known'), models.CheckConstraint(condition=models.Q(('grouping__in', ['', 'product', 'category', 'buyer', 'location'])), name='suppliers_rollupsum_grouping_known'), models.CheckConstraint(condition=models.Q(('span__in', ['hour', 'day', 'sliding'])), name='suppliers_rollupsum_span_known'), models.CheckConstraint(condition=models.Q(('slot', 0), models.Q(('grouping', ''), ('slot__range', (1, 47)), ('span', 'sliding')), _connector='OR'), name='suppliers_rollupsum_slot')],
            },
        ),
    ]
