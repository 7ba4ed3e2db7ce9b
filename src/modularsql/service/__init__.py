"""The use cases. The only place where adapters meet the core; every door calls these."""
