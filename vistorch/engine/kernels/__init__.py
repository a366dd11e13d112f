"""Raw kernels: one namespace of functions on arrays per array library."""
