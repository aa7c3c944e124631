"""The suppliers that a buyer finds on the platform, as each is told to everybody."""
