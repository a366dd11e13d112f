"""The documentation: pages by hand, and `docs.making`, which makes the others and builds the site."""
