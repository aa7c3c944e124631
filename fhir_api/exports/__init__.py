"""Bulk exports (`$export`): asked for over HTTP, carried out batch by batch by whoever has time, fetched as NDJSON."""
