"""Vector instructions for the kernels of training."""
