"""The authorization server: django-oauth-toolkit speaks the protocol, our tables and keys stand behind it."""
