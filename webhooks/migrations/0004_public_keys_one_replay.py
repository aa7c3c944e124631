"""Keeps the public half of an Ed25519 key, and lets an endpoint have one open replay at a time.

Safe: nobody has made a replay yet, so the index is swapped on an empty table.
"""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('organizations', '0001_initial'),
        ('webhooks', '0003_health_hours_replays'),
    ]

    operations = [
        migrations.RemoveIndex(
            model_name='replay',
            name='webhooks_replay_open',
        ),
        migrations.AddField(
            model_name='secret',
            name='public_key',
            field=models.CharField(blank=True, db_default='', default='', max_length=60),
        ),
        migrations.AddConstraint(
            model_name='replay',
            constraint=models.UniqueConstraint(condition=models.Q(('state__in', ['queued', 'running'])), fields=('endpoint',), name='webhooks_replay_one'),
        ),
    ]
