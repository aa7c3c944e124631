"""Makes what approvers have decided about orders, and the steps that pending orders wait at.

Safe: the tables are new, and no release has orders yet.
"""

import core.clock
import core.ids
import django.db.models.deletion
import django.db.models.functions.comparison
import django.db.models.functions.datetime
from django.db import migrations, models


class Migration(migrations.Migration):
    """Two tables."""

    dependencies = [
        ('organizations', '0011_managed_tenants'),
        ('procurement', '0001_budgets'),
        ('suppliers', '0033_receipts'),
    ]

    operations = [
        migrations.CreateModel(
            name='Approval',
            fields=[
                ('id', models.UUIDField(default=core.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ('revision', models.IntegerField()),
                ('approval_for', models.CharField(choices=[('sending', 'Sending the order'), ('supplier_change', "Accepting the supplier's change"), ('buyer_change', "Proposing the buyer's change")], max_length=15)),
                ('step', models.IntegerField()),
                ('decision', models.CharField(choices=[('approved', 'Approved'), ('rejected', 'Rejected')], max_length=8)),
                ('approver_id', models.UUIDField()),
                ('delegated_by_id', models.UUIDField(null=True)),
                ('note', models.CharField(blank=True, default='', max_length=500)),
                ('credential', models.CharField(max_length=255)),
                ('at', models.DateTimeField()),
                ('order', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='suppliers.purchaseorder')),
                ('tenant', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='organizations.tenant')),
            ],
            options={
                'indexes': [models.Index(fields=['tenant', 'order', 'at'], name='procurement_approval_by_order')],
                'constraints': [models.UniqueConstraint(fields=('tenant', 'order', 'revision', 'approval_for', 'approver_id'), name='procurement_approval_once'), models.UniqueConstraint(models.F('tenant'), models.F('order'), models.F('revision'), models.F('approval_for'), django.db.models.functions.comparison.Coalesce('delegated_by_id', 'approver_id'), name='procurement_approval_once_for'), models.UniqueConstraint(fields=('tenant', 'order', 'revision', 'approval_for', 'step'), name='procurement_approval_step'), models.CheckConstraint(condition=models.Q(('approval_for__in', ['sending', 'supplier_change', 'buyer_change']), ('decision__in', ['approved', 'rejected'])), name='procurement_approval_known'), models.CheckConstraint(condition=models.Q(('delegated_by_id__isnull', True), models.Q(('delegated_by_id', models.F('approver_id')), _negated=True), _connector='OR'), name='procurement_approval_of_another'), models.CheckConstraint(condition=models.Q(('revision__gte', 1), ('step__gte', 1)), name='procurement_approval_numbers')],
            },
        ),
        migrations.CreateModel(
            name='ApprovalStep',
            fields=[
                ('updated_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), default=core.clock.now)),
                ('version', models.PositiveIntegerField(db_default=1, default=1)),
                ('id', models.UUIDField(default=core.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), default=core.clock.now, editable=False)),
                ('approval_for', models.CharField(choices=[('sending', 'Sending the order'), ('supplier_change', "Accepting the supplier's change"), ('buyer_change', "Proposing the buyer's change")], max_length=15)),
                ('due_at', models.DateTimeField()),
                ('told_at', models.DateTimeField(null=True)),
                ('order', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='suppliers.purchaseorder')),
                ('tenant', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='organizations.tenant')),
            ],
            options={
                'indexes': [models.Index(condition=models.Q(('told_at__isnull', True)), fields=['tenant', 'due_at', 'order'], name='procurement_step_untold')],
                'constraints': [models.UniqueConstraint(fields=('tenant', 'order'), name='procurement_approvalstep_once'), models.CheckConstraint(condition=models.Q(('approval_for__in', ['sending', 'supplier_change', 'buyer_change'])), name='procurement_approvalstep_known')],
            },
        ),
    ]
