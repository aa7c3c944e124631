#!/bin/sh
# Runs in the PostgreSQL container at its first start.
exec psql --set ON_ERROR_STOP=1 --username postgres -v owner_password="$OWNER_PASSWORD" \
    -v runtime_password="$RUNTIME_PASSWORD" -v platform_password="$PLATFORM_PASSWORD" -f /roles.sql
