"""What several rules ask of a block; no rule stands here."""
