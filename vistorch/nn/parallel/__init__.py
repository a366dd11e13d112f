"""One network on several devices."""
