"""A finished run for readers: tables, charts, one offline page, JUnit. Nothing here runs SQL."""
