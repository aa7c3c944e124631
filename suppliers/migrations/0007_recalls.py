"""Recalls of lots, the notices to buyers, and the copies of these.

Safe: the tables are new.
"""

import core.clock
import core.ids
import django.db.models.deletion
import django.db.models.functions.datetime
import django_fsm
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('organizations', '0010_failures_by_network'),
        ('suppliers', "0006_company"),
    ]

    operations = [
        migrations.CreateModel(
            name='Recall',
            fields=[
                ('updated_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), default=core.clock.now)),
                ('version', models.PositiveIntegerField(db_default=1, default=1)),
                ('id', models.UUIDField(default=core.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), default=core.clock.now, editable=False)),
                ('product_id', models.UUIDField()),
                ('lot_number', models.CharField(max_length=20)),
                ('expiry_date', models.DateField(null=True)),
                ('recall_class', models.CharField(choices=[('I', 'I'), ('II', 'II'), ('III', 'III')], max_length=3)),
                ('reference', models.CharField(blank=True, default='', max_length=120)),
                ('authority', models.CharField(blank=True, default='', max_length=120)),
                ('instructions', models.CharField(blank=True, default='', max_length=2000)),
                ('reason', models.CharField(max_length=500)),
                ('issued_at', models.DateTimeField()),
                ('withdrawn_at', models.DateTimeField(null=True)),
                ('withdrawal_reason', models.CharField(blank=True, default='', max_length=500)),
                ('is_walked', models.BooleanField(db_default=False, default=False)),
                ('lot', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='suppliers.lot')),
                ('tenant', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='organizations.tenant')),
            ],
        ),
        migrations.CreateModel(
            name='RecallNotice',
            fields=[
                ('updated_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), default=core.clock.now)),
                ('version', models.PositiveIntegerField(db_default=1, default=1)),
                ('id', models.UUIDField(default=core.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), default=core.clock.now, editable=False)),
                ('buyer_tenant_id', models.UUIDField()),
                ('status', django_fsm.FSMField(choices=[('pending', 'Pending'), ('told', 'Told'), ('answered', 'Answered'), ('closed', 'Closed'), ('withdrawn', 'Withdrawn'), ('unreachable', 'Unreachable')], default='pending', max_length=11, protected=True)),
                ('reserved', models.PositiveBigIntegerField(default=0)),
                ('received', models.PositiveBigIntegerField(default=0)),
                ('told_at', models.DateTimeField(null=True)),
                ('withdrawn_at', models.DateTimeField(null=True)),
                ('answered_at', models.DateTimeField(null=True)),
                ('quantity_found', models.PositiveBigIntegerField(null=True)),
                ('quantity_disposed', models.PositiveBigIntegerField(null=True)),
                ('note', models.CharField(blank=True, default='', max_length=500)),
                ('recall', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='notices', to='suppliers.recall')),
                ('tenant', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='organizations.tenant')),
            ],
            options={
                'verbose_name': 'recall notice',
            },
            bases=(django_fsm.ConcurrentTransitionMixin, models.Model),
        ),
        migrations.CreateModel(
            name='ReceivedRecall',
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
                ('recall_id', models.UUIDField()),
                ('product_id', models.UUIDField()),
                ('lot_id', models.UUIDField()),
                ('tenant', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='organizations.tenant')),
            ],
        ),
        migrations.AddIndex(
            model_name='recall',
            index=models.Index(condition=models.Q(('is_walked', False)), fields=['tenant', 'id'], name='suppliers_recall_to_walk'),
        ),
        migrations.AddIndex(
            model_name='recall',
            index=models.Index(fields=['tenant', 'lot', 'id'], name='suppliers_recall_by_lot'),
        ),
        migrations.AddIndex(
            model_name='recall',
            index=models.Index(fields=['tenant', 'issued_at', 'id'], name='suppliers_recall_by_time'),
        ),
        migrations.AddConstraint(
            model_name='recall',
            constraint=models.UniqueConstraint(condition=models.Q(('withdrawn_at__isnull', True)), fields=('tenant', 'lot'), name='suppliers_recall_one_of_lot'),
        ),
        migrations.AddConstraint(
            model_name='recall',
            constraint=models.CheckConstraint(condition=models.Q(('recall_class__in', ['I', 'II', 'III'])), name='suppliers_recall_class_known'),
        ),
        migrations.AddConstraint(
            model_name='recallnotice',
            constraint=models.UniqueConstraint(fields=('tenant', 'recall', 'buyer_tenant_id'), name='suppliers_recallnotice_once'),
        ),
        migrations.AddConstraint(
            model_name='recallnotice',
            constraint=models.CheckConstraint(condition=models.Q(('status__in', ['pending', 'told', 'answered', 'closed', 'withdrawn', 'unreachable'])), name='suppliers_recallnotice_status_known'),
        ),
        migrations.AddConstraint(
            model_name='recallnotice',
            constraint=models.CheckConstraint(condition=models.Q(('buyer_tenant_id', models.F('tenant_id')), _negated=True), name='suppliers_recallnotice_two_parties'),
        ),
        migrations.AddConstraint(
            model_name='recallnotice',
            constraint=models.CheckConstraint(condition=models.Q(('quantity_disposed__isnull', True), ('quantity_disposed__lte', models.F('quantity_found')), _connector='OR'), name='suppliers_recallnotice_disposed'),
        ),
        migrations.AddConstraint(
            model_name='recallnotice',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('status__in', ('told', 'answered', 'closed')), _negated=True), ('told_at__isnull', False), _connector='OR'), name='suppliers_recallnotice_told'),
        ),
        migrations.AddIndex(
            model_name='receivedrecall',
            index=models.Index(fields=['tenant', 'received_at', 'id'], name='suppliers_recrecall_by_time'),
        ),
        migrations.AddIndex(
            model_name='receivedrecall',
            index=models.Index(fields=['tenant', 'updated_at', 'id'], name='suppliers_recrecall_by_updated'),
        ),
        migrations.AddIndex(
            model_name='receivedrecall',
            index=models.Index(fields=['tenant', 'product_id', 'received_at', 'id'], name='suppliers_recrecall_by_product'),
        ),
    ]
