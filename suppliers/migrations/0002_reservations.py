"""Makes places that keep stock, lots, reservations with what they hold, offers and their audiences.

Safe: the tables are new, but for the levels of stock, which no endpoint has written yet.
"""

import core.clock
import core.ids
import django.db.models.deletion
import django.db.models.functions.datetime
import django_fsm
from django.db import migrations, models


class Migration(migrations.Migration):
    """Nine tables, and new columns of the levels."""

    dependencies = [
        ('organizations', '0010_failures_by_network'),
        ('suppliers', '0001_initial'),
    ]

    operations = [
        migrations.CreateModel(
            name='Allocation',
            fields=[
                ('updated_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), default=core.clock.now)),
                ('version', models.PositiveIntegerField(db_default=1, default=1)),
                ('id', models.UUIDField(default=core.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), default=core.clock.now, editable=False)),
                ('buyer_tenant_id', models.UUIDField()),
                ('base_quantity', models.PositiveBigIntegerField()),
                ('kind', models.CharField(choices=[('soft', 'Soft'), ('hard', 'Hard')], max_length=4)),
                ('status', models.CharField(choices=[('active', 'Active'), ('consumed', 'Consumed'), ('released', 'Released'), ('expired', 'Expired'), ('broken', 'Broken')], max_length=8)),
                ('expires_at', models.DateTimeField(null=True)),
            ],
        ),
        migrations.CreateModel(
            name='AudienceMember',
            fields=[
                ('pk', models.CompositePrimaryKey('tenant_id', 'audience_id', 'member_tenant_id', blank=True, editable=False, primary_key=True, serialize=False)),
                ('tenant_id', models.UUIDField()),
                ('audience_id', models.UUIDField()),
                ('member_tenant_id', models.UUIDField()),
            ],
            options={
                'abstract': False,
            },
        ),
        migrations.CreateModel(
            name='Lot',
            fields=[
                ('updated_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), default=core.clock.now)),
                ('version', models.PositiveIntegerField(db_default=1, default=1)),
                ('id', models.UUIDField(default=core.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), default=core.clock.now, editable=False)),
                ('lot_number', models.CharField(max_length=20)),
                ('expiry_date', models.DateField(null=True)),
                ('manufacture_date', models.DateField(null=True)),
                ('status', django_fsm.FSMField(choices=[('released', 'Released'), ('quarantined', 'Quarantined'), ('recalled', 'Recalled')], default='released', max_length=11, protected=True)),
                ('status_reason', models.CharField(blank=True, default='', max_length=500)),
                ('origin_tenant_id', models.UUIDField(null=True)),
                ('origin_lot_id', models.UUIDField(null=True)),
            ],
            bases=(django_fsm.ConcurrentTransitionMixin, models.Model),
        ),
        migrations.CreateModel(
            name='Offer',
            fields=[
                ('updated_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), default=core.clock.now)),
                ('version', models.PositiveIntegerField(db_default=1, default=1)),
                ('id', models.UUIDField(default=core.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), default=core.clock.now, editable=False)),
                ('title', models.CharField(blank=True, default='', max_length=255)),
                ('status', django_fsm.FSMField(choices=[('draft', 'Draft'), ('published', 'Published'), ('paused', 'Paused'), ('expired', 'Expired'), ('archived', 'Archived')], default='draft', max_length=9, protected=True)),
                ('currency', models.CharField(blank=True, default='', max_length=3)),
                ('tiers', models.JSONField(default=list)),
                ('price_base_quantity', models.PositiveIntegerField(default=1)),
                ('min_order_quantity', models.PositiveIntegerField(null=True)),
                ('max_order_quantity', models.PositiveIntegerField(null=True)),
                ('lead_time_days', models.PositiveIntegerField(null=True)),
                ('stock_policy', models.CharField(choices=[('live', 'Live'), ('fixed', 'Fixed'), ('made_to_order', 'Made To Order')], default='live', max_length=13)),
                ('fixed_quantity', models.PositiveBigIntegerField(null=True)),
                ('stock_display', models.CharField(choices=[('exact', 'Exact'), ('capped', 'Capped'), ('band', 'Band'), ('hidden', 'Hidden')], default='band', max_length=6)),
                ('cap', models.PositiveIntegerField(null=True)),
                ('min_remaining_shelf_life_days', models.PositiveIntegerField(null=True)),
                ('countries', models.JSONField(default=list)),
                ('valid_from', models.DateField(null=True)),
                ('valid_to', models.DateField(null=True)),
                ('visibility_mode', models.CharField(choices=[('public', 'Public'), ('selected', 'Selected'), ('private', 'Private')], default='private', max_length=8)),
                ('audience_id', models.UUIDField()),
            ],
            bases=(django_fsm.ConcurrentTransitionMixin, models.Model),
        ),
        migrations.CreateModel(
            name='OfferExclusion',
            fields=[
                ('pk', models.CompositePrimaryKey('tenant_id', 'offer_id', 'member_tenant_id', blank=True, editable=False, primary_key=True, serialize=False)),
                ('tenant_id', models.UUIDField()),
                ('offer_id', models.UUIDField()),
                ('member_tenant_id', models.UUIDField()),
            ],
            options={
                'abstract': False,
            },
        ),
        migrations.CreateModel(
            name='ReceivedReservation',
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
                ('group_id', models.UUIDField()),
                ('product_id', models.UUIDField()),
                ('expires_at', models.DateTimeField(null=True)),
            ],
        ),
        migrations.CreateModel(
            name='Reservation',
            fields=[
                ('updated_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), default=core.clock.now)),
                ('version', models.PositiveIntegerField(db_default=1, default=1)),
                ('id', models.UUIDField(default=core.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), default=core.clock.now, editable=False)),
                ('group_id', models.UUIDField()),
                ('line_no', models.PositiveSmallIntegerField()),
                ('buyer_tenant_id', models.UUIDField()),
                ('offer_id', models.UUIDField(null=True)),
                ('unit', models.CharField(choices=[('pack', 'Pack'), ('base', 'Base')], max_length=4)),
                ('units_per_pack', models.PositiveBigIntegerField()),
                ('base_quantity', models.PositiveBigIntegerField()),
                ('needed_date', models.DateField(null=True)),
                ('remaining_days', models.PositiveIntegerField(default=0)),
                ('kind', models.CharField(choices=[('soft', 'Soft'), ('hard', 'Hard')], default='soft', max_length=4)),
                ('status', django_fsm.FSMField(choices=[('active', 'Active'), ('consumed', 'Consumed'), ('released', 'Released'), ('expired', 'Expired'), ('broken', 'Broken')], default='active', max_length=8, protected=True)),
                ('expires_at', models.DateTimeField(null=True)),
                ('extensions', models.PositiveSmallIntegerField(default=0)),
                ('ended_at', models.DateTimeField(null=True)),
                ('purchase_order_line_id', models.UUIDField(null=True)),
                ('reason', models.CharField(blank=True, default='', max_length=40)),
            ],
            options={
                'verbose_name': 'reservation',
            },
            bases=(django_fsm.ConcurrentTransitionMixin, models.Model),
        ),
        migrations.CreateModel(
            name='StockPlace',
            fields=[
                ('updated_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), default=core.clock.now)),
                ('version', models.PositiveIntegerField(db_default=1, default=1)),
                ('id', models.UUIDField(default=core.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), default=core.clock.now, editable=False)),
                ('code', models.CharField(max_length=40)),
                ('sellable', models.BooleanField(default=True)),
                ('min_c', models.DecimalField(decimal_places=1, max_digits=4, null=True)),
                ('max_c', models.DecimalField(decimal_places=1, max_digits=4, null=True)),
                ('gln', models.CharField(blank=True, default='', max_length=13)),
                ('tracks_stock', models.BooleanField(default=True)),
                ('license_number', models.CharField(blank=True, default='', max_length=80)),
                ('license_types', models.JSONField(default=list)),
                ('license_valid_to', models.DateField(null=True)),
            ],
        ),
        migrations.CreateModel(
            name='SupplierProfile',
            fields=[
                ('updated_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), default=core.clock.now)),
                ('version', models.PositiveIntegerField(db_default=1, default=1)),
                ('id', models.UUIDField(default=core.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), default=core.clock.now, editable=False)),
                ('order_settings', models.JSONField(default=dict)),
            ],
        ),
        migrations.RemoveConstraint(
            model_name='stocklevel',
            name='suppliers_stocklevel_once',
        ),
        migrations.AddField(
            model_name='stocklevel',
            name='is_untold',
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.AddField(
            model_name='stocklevel',
            name='last_counted_at',
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name='stocklevel',
            name='low_stock_threshold',
            field=models.PositiveBigIntegerField(null=True),
        ),
        migrations.AddField(
            model_name='stocklevel',
            name='told_at',
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name='allocation',
            name='level',
            field=models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='suppliers.stocklevel'),
        ),
        migrations.AddField(
            model_name='allocation',
            name='tenant',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='organizations.tenant'),
        ),
        migrations.AddField(
            model_name='lot',
            name='product',
            field=models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='suppliers.product'),
        ),
        migrations.AddField(
            model_name='lot',
            name='tenant',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='organizations.tenant'),
        ),
        migrations.AddField(
            model_name='stocklevel',
            name='lot',
            field=models.ForeignKey(db_constraint=False, db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='suppliers.lot'),
        ),
        migrations.AddIndex(
            model_name='stocklevel',
            index=models.Index(condition=models.Q(('is_untold', True)), fields=['tenant', 'id'], name='suppliers_stocklevel_untold'),
        ),
        migrations.AddConstraint(
            model_name='stocklevel',
            constraint=models.UniqueConstraint(fields=('tenant', 'product', 'location', 'lot'), name='suppliers_stocklevel_once', nulls_distinct=False),
        ),
        migrations.AddField(
            model_name='offer',
            name='packaging',
            field=models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='suppliers.packaging'),
        ),
        migrations.AddField(
            model_name='offer',
            name='product',
            field=models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='suppliers.product'),
        ),
        migrations.AddField(
            model_name='offer',
            name='tenant',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='organizations.tenant'),
        ),
        migrations.AddField(
            model_name='receivedreservation',
            name='tenant',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='organizations.tenant'),
        ),
        migrations.AddField(
            model_name='reservation',
            name='location',
            field=models.ForeignKey(db_constraint=False, db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='organizations.location'),
        ),
        migrations.AddField(
            model_name='reservation',
            name='packaging',
            field=models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='suppliers.packaging'),
        ),
        migrations.AddField(
            model_name='reservation',
            name='product',
            field=models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='suppliers.product'),
        ),
        migrations.AddField(
            model_name='reservation',
            name='tenant',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='organizations.tenant'),
        ),
        migrations.AddField(
            model_name='allocation',
            name='reservation',
            field=models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='allocations', to='suppliers.reservation'),
        ),
        migrations.AddField(
            model_name='stockplace',
            name='location',
            field=models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='organizations.location'),
        ),
        migrations.AddField(
            model_name='stockplace',
            name='tenant',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='organizations.tenant'),
        ),
        migrations.AddField(
            model_name='supplierprofile',
            name='tenant',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='organizations.tenant'),
        ),
        migrations.AddConstraint(
            model_name='lot',
            constraint=models.UniqueConstraint(fields=('tenant', 'product', 'lot_number'), name='suppliers_lot_once'),
        ),
        migrations.AddConstraint(
            model_name='lot',
            constraint=models.CheckConstraint(condition=models.Q(('status__in', ['released', 'quarantined', 'recalled'])), name='suppliers_lot_status_known'),
        ),
        migrations.AddIndex(
            model_name='offer',
            index=models.Index(fields=['tenant', 'created_at', 'id'], name='suppliers_offer_by_created'),
        ),
        migrations.AddIndex(
            model_name='offer',
            index=models.Index(fields=['tenant', 'updated_at', 'id'], name='suppliers_offer_by_updated'),
        ),
        migrations.AddIndex(
            model_name='offer',
            index=models.Index(fields=['tenant', 'product', 'created_at', 'id'], name='suppliers_offer_by_product'),
        ),
        migrations.AddConstraint(
            model_name='offer',
            constraint=models.UniqueConstraint(condition=models.Q(('status__in', ('published', 'paused'))), fields=('tenant', 'packaging'), name='suppliers_offer_live_once'),
        ),
        migrations.AddConstraint(
            model_name='offer',
            constraint=models.CheckConstraint(condition=models.Q(('status__in', ['draft', 'published', 'paused', 'expired', 'archived'])), name='suppliers_offer_status_known'),
        ),
        migrations.AddConstraint(
            model_name='offer',
            constraint=models.CheckConstraint(condition=models.Q(('valid_from__isnull', True), ('valid_to__isnull', True), ('valid_to__gt', models.F('valid_from')), _connector='OR'), name='suppliers_offer_validity'),
        ),
        migrations.AddConstraint(
            model_name='offer',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('stock_display', 'capped'), _negated=True), ('cap__isnull', False), _connector='OR'), name='suppliers_offer_capped'),
        ),
        migrations.AddIndex(
            model_name='receivedreservation',
            index=models.Index(fields=['tenant', 'received_at', 'id'], name='suppliers_recres_by_time'),
        ),
        migrations.AddIndex(
            model_name='receivedreservation',
            index=models.Index(fields=['tenant', 'group_id'], name='suppliers_recres_by_group'),
        ),
        migrations.AddIndex(
            model_name='receivedreservation',
            index=models.Index(fields=['tenant', 'updated_at', 'id'], name='suppliers_recres_by_updated'),
        ),
        migrations.AddIndex(
            model_name='receivedreservation',
            index=models.Index(fields=['tenant', 'status', 'received_at', 'id'], name='suppliers_recres_by_status'),
        ),
        migrations.AddIndex(
            model_name='receivedreservation',
            index=models.Index(fields=['tenant', 'product_id', 'received_at', 'id'], name='suppliers_recres_by_product'),
        ),
        migrations.AddIndex(
            model_name='receivedreservation',
            index=models.Index(fields=['tenant', 'owner_tenant_id', 'received_at', 'id'], name='suppliers_recres_by_owner'),
        ),
        migrations.AddIndex(
            model_name='reservation',
            index=models.Index(fields=['tenant', 'created_at', 'id'], name='suppliers_reservation_created'),
        ),
        migrations.AddIndex(
            model_name='reservation',
            index=models.Index(fields=['tenant', 'updated_at', 'id'], name='suppliers_reservation_updated'),
        ),
        migrations.AddIndex(
            model_name='reservation',
            index=models.Index(fields=['tenant', 'status', 'created_at', 'id'], name='suppliers_reservation_status'),
        ),
        migrations.AddIndex(
            model_name='reservation',
            index=models.Index(fields=['tenant', 'product', 'created_at', 'id'], name='suppliers_reservation_product'),
        ),
        migrations.AddIndex(
            model_name='reservation',
            index=models.Index(fields=['tenant', 'buyer_tenant_id', 'created_at', 'id'], name='suppliers_reservation_buyer'),
        ),
        migrations.AddIndex(
            model_name='reservation',
            index=models.Index(condition=models.Q(('status', 'active'), ('kind', 'soft')), fields=['tenant', 'expires_at', 'id'], name='suppliers_reservation_expiry'),
        ),
        migrations.AddConstraint(
            model_name='reservation',
            constraint=models.CheckConstraint(condition=models.Q(('buyer_tenant_id', models.F('tenant_id')), _negated=True), name='suppliers_reservation_two_parties'),
        ),
        migrations.AddConstraint(
            model_name='reservation',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('expires_at__isnull', False), ('kind', 'soft')), models.Q(('expires_at__isnull', True), ('kind', 'hard')), _connector='OR'), name='suppliers_reservation_soft_expires'),
        ),
        migrations.AddConstraint(
            model_name='reservation',
            constraint=models.CheckConstraint(condition=models.Q(('base_quantity__gte', 1), ('units_per_pack__gte', 1)), name='suppliers_reservation_quantities'),
        ),
        migrations.AddConstraint(
            model_name='reservation',
            constraint=models.CheckConstraint(condition=models.Q(('status__in', ['active', 'consumed', 'released', 'expired', 'broken'])), name='suppliers_reservation_status_known'),
        ),
        migrations.AddIndex(
            model_name='allocation',
            index=models.Index(condition=models.Q(('status', 'active')), fields=['tenant', 'level'], name='suppliers_allocation_of_level'),
        ),
        migrations.AddConstraint(
            model_name='allocation',
            constraint=models.UniqueConstraint(fields=('tenant', 'reservation', 'level'), name='suppliers_allocation_once'),
        ),
        migrations.AddConstraint(
            model_name='allocation',
            constraint=models.CheckConstraint(condition=models.Q(('base_quantity__gte', 1)), name='suppliers_allocation_quantity'),
        ),
        migrations.AddConstraint(
            model_name='stockplace',
            constraint=models.UniqueConstraint(fields=('tenant', 'code'), name='suppliers_stockplace_code_taken'),
        ),
        migrations.AddConstraint(
            model_name='stockplace',
            constraint=models.UniqueConstraint(fields=('tenant', 'location'), name='suppliers_stockplace_taken'),
        ),
        migrations.AddConstraint(
            model_name='stockplace',
            constraint=models.CheckConstraint(condition=models.Q(('min_c__isnull', True), ('max_c__isnull', True), ('min_c__lt', models.F('max_c')), _connector='OR'), name='suppliers_stockplace_temperature'),
        ),
        migrations.AddConstraint(
            model_name='supplierprofile',
            constraint=models.UniqueConstraint(fields=('tenant',), name='suppliers_supplierprofile_one'),
        ),
    ]
