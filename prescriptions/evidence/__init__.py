"""Snapshots, the audit history, checkpoints and their verification."""
