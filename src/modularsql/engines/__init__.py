"""Adapters to databases. Each opens read-only, bounds every query, and reads the catalog."""
