"""Tools of the checkout behind `./dev`: servers from wheels, database roles, supervisor, checks. Never imported by the service."""
