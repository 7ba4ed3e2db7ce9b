"""What is said of a database's keys outside of it: DDL, key files, tables.json, dbt, names."""
