"""Floor 3: measures of how well a model predicts."""
