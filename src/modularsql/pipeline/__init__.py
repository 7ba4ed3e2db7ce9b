"""From a question to a guarded answer: DeepEye-SQL's seven stages (docs/design/pipeline.md)."""
