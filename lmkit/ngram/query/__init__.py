"""From a model and ids to log probabilities, next-word distributions and samples."""
