"""Keys, grain and what multiplies rows: the theory of docs/design/multiplicity.md. Pure."""
