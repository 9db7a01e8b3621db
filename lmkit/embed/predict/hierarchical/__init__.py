"""The compiled training loops of hierarchical softmax."""
