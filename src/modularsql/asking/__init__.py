"""How any room asks a model: prompts from files, results in short, replies read with care,
costs counted."""
