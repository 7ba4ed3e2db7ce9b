"""A small shop to try the guard on: `shop.sqlite` (`scripts/make_demo_db.py`), `queries.toml`."""
