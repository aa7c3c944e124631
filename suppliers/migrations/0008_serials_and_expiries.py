"""Serial numbers of units, and what was told of a lot's expiry.

Safe: the table is new, and the new column of lots is null in every row; it holds a few days.
"""

import core.clock
import core.ids
import django.db.models.deletion
import django.db.models.functions.datetime
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('organizations', '0010_failures_by_network'),
        ('suppliers', "0007_recalls"),
    ]

    operations = [
        migrations.CreateModel(
            name='Serial',
            fields=[
                ('updated_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), default=core.clock.now)),
                ('version', models.PositiveIntegerField(db_default=1, default=1)),
                ('id', models.UUIDField(default=core.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), default=core.clock.now, editable=False)),
                ('serial_number', models.CharField(max_length=20)),
                ('status', models.CharField(choices=[('in_stock', 'In Stock'), ('allocated', 'Allocated'), ('shipped', 'Shipped'), ('received', 'Received'), ('returned', 'Returned'), ('disposed', 'Disposed')], default='in_stock', max_length=9)),
            ],
        ),
        migrations.AddField(
            model_name='lot',
            name='expiry_told',
            field=models.PositiveSmallIntegerField(null=True),
        ),
        migrations.AddField(
            model_name='serial',
            name='level',
            field=models.ForeignKey(db_constraint=False, db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='suppliers.stocklevel'),
        ),
        migrations.AddField(
            model_name='serial',
            name='lot',
            field=models.ForeignKey(db_constraint=False, db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='suppliers.lot'),
        ),
        migrations.AddField(
            model_name='serial',
            name='product',
            field=models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='suppliers.product'),
        ),
        migrations.AddField(
            model_name='serial',
            name='tenant',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='organizations.tenant'),
        ),
        migrations.AddIndex(
            model_name='serial',
            index=models.Index(condition=models.Q(('level__isnull', False)), fields=['tenant', 'level'], name='suppliers_serial_of_level'),
        ),
        migrations.AddIndex(
            model_name='serial',
            index=models.Index(fields=['tenant', 'serial_number'], name='suppliers_serial_by_number'),
        ),
        migrations.AddConstraint(
            model_name='serial',
            constraint=models.UniqueConstraint(fields=('tenant', 'product', 'serial_number'), name='suppliers_serial_once'),
        ),
        migrations.AddConstraint(
            model_name='serial',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('level__isnull', False), ('status__in', ('in_stock', 'allocated'))), models.Q(models.Q(('status__in', ('in_stock', 'allocated')), _negated=True), ('level__isnull', True)), _connector='OR'), name='suppliers_serial_lies_somewhere'),
        ),
        migrations.AddConstraint(
            model_name='serial',
            constraint=models.CheckConstraint(condition=models.Q(('status__in', ['in_stock', 'allocated', 'shipped', 'received', 'returned', 'disposed'])), name='suppliers_serial_status_known'),
        ),
    ]
