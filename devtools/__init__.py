"""Tools behind `./dev`: servers from wheels, database roles, supervisor, checks. The service never imports them."""
