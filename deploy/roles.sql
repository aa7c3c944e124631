-- The roles of the service, for a PostgreSQL that `./dev` does not administer. Run once as an administrator:
--   psql -v owner_password=… -v runtime_password=… -v platform_password=… -f deploy/roles.sql
CREATE ROLE hp_owner LOGIN BYPASSRLS PASSWORD :'owner_password';
CREATE ROLE hp_runtime LOGIN NOINHERIT PASSWORD :'runtime_password';
CREATE ROLE hp_platform LOGIN NOINHERIT BYPASSRLS PASSWORD :'platform_password';
CREATE ROLE hp_app NOLOGIN NOINHERIT;
CREATE ROLE hp_dispatcher NOLOGIN NOINHERIT;
CREATE ROLE hp_market NOLOGIN NOINHERIT;
GRANT hp_app, hp_dispatcher, hp_market TO hp_runtime WITH INHERIT FALSE, SET TRUE;
CREATE DATABASE hp OWNER hp_owner;
REVOKE ALL ON DATABASE hp FROM PUBLIC;
GRANT CONNECT ON DATABASE hp TO hp_runtime, hp_platform;
