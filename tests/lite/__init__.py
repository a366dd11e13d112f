"""vistorch where there are no threads, no processes and 32-bit sizes: the browser, and CPython made to look like it."""
