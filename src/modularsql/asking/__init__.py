"""How any room asks a model: prompts from files, replies read with care, costs counted."""
