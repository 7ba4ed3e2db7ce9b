"""SQL as text with places and as a tree: reading, extracting, editing. Pure."""
