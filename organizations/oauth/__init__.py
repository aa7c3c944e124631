"""The authorization server: the protocol of django-oauth-toolkit over the platform's own tables and keys."""
