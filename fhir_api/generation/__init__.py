"""From the definitions of R4 to what is committed in `definitions`; runs by hand, never in the service."""
