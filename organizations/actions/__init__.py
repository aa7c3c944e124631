"""Writes of the app: each verb demands an open transaction and records one fact."""
