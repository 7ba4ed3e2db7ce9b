"""Models behind `ports.Model`: adapters (a server, a file in process) and wrappers around them."""
