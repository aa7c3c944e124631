"""What stock did with the lines of dispensations. Safe: the table is new."""

import core.clock
import core.ids
import django.db.models.deletion
import django.db.models.functions.datetime
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('organizations', '0010_failures_by_network'),
        ('suppliers', '0020_items_of_stock'),
    ]

    operations = [
        migrations.CreateModel(
            name='DispenseBooking',
            fields=[
                ('updated_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), default=core.clock.now)),
                ('version', models.PositiveIntegerField(db_default=1, default=1)),
                ('id', models.UUIDField(default=core.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), default=core.clock.now, editable=False)),
                ('dispensation_id', models.UUIDField()),
                ('location_id', models.UUIDField()),
                ('system', models.CharField(blank=True, default='', max_length=255)),
                ('code', models.CharField(blank=True, default='', max_length=100)),
                ('lot_number', models.CharField(blank=True, default='', max_length=50)),
                ('quantity', models.CharField(max_length=40)),
                ('unit', models.CharField(blank=True, default='', max_length=40)),
                ('status', models.CharField(choices=[('booked', 'Booked'), ('unbooked', 'Unbooked'), ('reversed', 'Reversed')], max_length=8)),
                ('reason', models.CharField(blank=True, choices=[('no_product', 'No Product'), ('unknown_product', 'Unknown Product'), ('no_lot', 'No Lot'), ('unknown_lot', 'Unknown Lot'), ('ambiguous_product', 'Ambiguous'), ('serial_numbers', 'Serial Numbers'), ('unit_mismatch', 'Unit Mismatch'), ('fraction', 'Fraction'), ('insufficient_stock', 'Insufficient Stock')], default='', max_length=18)),
                ('movement_id', models.UUIDField(null=True)),
                ('base_quantity', models.PositiveBigIntegerField(null=True)),
                ('level', models.ForeignKey(db_constraint=False, db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='suppliers.stocklevel')),
                ('tenant', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='organizations.tenant')),
            ],
            options={
                'verbose_name': 'dispensed line',
                'indexes': [models.Index(fields=['tenant', 'dispensation_id'], name='suppliers_dispensebooking_of'), models.Index(fields=['tenant', 'status', 'created_at', 'id'], name='suppliers_dispensebooking_open')],
                'constraints': [models.CheckConstraint(condition=models.Q(models.Q(('reason', ''), ('status', 'booked'), ('base_quantity__gte', 1), ('level__isnull', False), ('movement_id__isnull', False)), models.Q(('level__isnull', True), ('movement_id__isnull', True), ('status', 'unbooked'), models.Q(('reason', ''), _negated=True)), ('status', 'reversed'), _connector='OR'), name='suppliers_dispensebooking_taken_or_why')],
            },
        ),
    ]
