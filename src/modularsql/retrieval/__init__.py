"""Look-ups behind ports: values of a database, solved questions, embeddings of texts."""
