"""How kernels speak to LLVM."""
