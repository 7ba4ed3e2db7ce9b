"""ModularSQL: probe a query's execution, patch it, explain. Read `run.py` first."""
