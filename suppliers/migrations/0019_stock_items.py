"""Products as tenants hold them; lots, levels and serials refer to them.

Safe: the table is new. The references change in the models only; `0020_items_of_stock` fills the table and turns the keys of
the database. The index and the check of lots look at columns that were null in every row until now.
"""

import core.clock
import core.ids
import django.contrib.postgres.fields
import django.db.models.deletion
import django.db.models.functions.datetime
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('organizations', '0010_failures_by_network'),
        ('suppliers', '0018_held_and_found'),
    ]

    operations = [
        migrations.CreateModel(
            name='StockItem',
            fields=[
                ('updated_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), default=core.clock.now)),
                ('version', models.PositiveIntegerField(db_default=1, default=1)),
                ('id', models.UUIDField(default=core.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), default=core.clock.now, editable=False)),
                ('product_tenant_id', models.UUIDField()),
                ('supplier_sku', models.CharField(blank=True, default='', max_length=64)),
                ('name', models.CharField(blank=True, default='', max_length=255)),
                ('category', models.CharField(blank=True, default='', max_length=64)),
                ('kind', models.CharField(blank=True, default='', max_length=12)),
                ('base_unit', models.CharField(blank=True, default='', max_length=3)),
                ('tracking', models.CharField(blank=True, default='', max_length=14)),
                ('expiry_required', models.BooleanField(default=False)),
                ('min_remaining_shelf_life_days', models.PositiveIntegerField(null=True)),
                ('storage_min_c', models.DecimalField(decimal_places=1, max_digits=4, null=True)),
                ('storage_max_c', models.DecimalField(decimal_places=1, max_digits=4, null=True)),
                ('gtins', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=14), blank=True, default=list, size=None)),
                ('codes', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=160), blank=True, default=list, size=None)),
                ('packagings', models.JSONField(blank=True, default=list)),
            ],
            options={
                'verbose_name': 'stock item',
            },
        ),
        migrations.RemoveIndex(
            model_name='lot',
            name='suppliers_lot_by_origin',
        ),
        migrations.AddField(
            model_name='stockitem',
            name='own_product',
            field=models.ForeignKey(db_constraint=False, db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='suppliers.product'),
        ),
        migrations.AddField(
            model_name='stockitem',
            name='tenant',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='organizations.tenant'),
        ),
        migrations.AlterField(
            model_name='lot',
            name='product',
            field=models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='suppliers.stockitem'),
        ),
        migrations.AlterField(
            model_name='serial',
            name='product',
            field=models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='suppliers.stockitem'),
        ),
        migrations.AlterField(
            model_name='stocklevel',
            name='product',
            field=models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='suppliers.stockitem'),
        ),
        migrations.AddIndex(
            model_name='lot',
            index=models.Index(condition=models.Q(('origin_lot_id__isnull', False)), fields=['origin_lot_id', 'tenant'], name='suppliers_lot_of_origin'),
        ),
        migrations.AddConstraint(
            model_name='lot',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('origin_lot_id__isnull', True), ('origin_tenant_id__isnull', True)), models.Q(('origin_lot_id__isnull', False), ('origin_tenant_id__isnull', False), models.Q(('origin_tenant_id', models.F('tenant_id')), _negated=True)), _connector='OR'), name='suppliers_lot_origin_is_anothers'),
        ),
        migrations.AddConstraint(
            model_name='stockitem',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('own_product', models.F('id')), ('own_product__isnull', False), ('product_tenant_id', models.F('tenant_id'))), models.Q(models.Q(('product_tenant_id', models.F('tenant_id')), _negated=True), ('own_product__isnull', True)), _connector='OR'), name='suppliers_stockitem_whose'),
        ),
        migrations.AddConstraint(
            model_name='stockitem',
            constraint=models.CheckConstraint(condition=models.Q(('own_product__isnull', False), models.Q(models.Q(('supplier_sku', ''), _negated=True), models.Q(('base_unit', ''), _negated=True), models.Q(('tracking', ''), _negated=True)), _connector='OR'), name='suppliers_stockitem_snapshot'),
        ),
    ]
