"""Tables that grow with time, cut into ranges of it: made ahead, dropped by age, without ever waiting long for a lock."""
