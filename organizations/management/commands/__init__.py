"""The commands of the app, one module each; every command is idempotent."""
