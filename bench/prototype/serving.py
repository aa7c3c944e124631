"""The prototype's server: Granian's WSGI with few threads, as it was measured.

DJANGO_SETTINGS_MODULE=bench.prototype.settings granian --interface wsgi bench.prototype.serving:application
"""

import gc

from django.core.wsgi import get_wsgi_application

application = get_wsgi_application()
gc.collect()
gc.freeze()
gc.set_threshold(100_000, 50, 100)
