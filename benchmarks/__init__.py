"""Times of vistorch against torch, taken side by side: `python -m benchmarks`."""
