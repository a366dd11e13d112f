"""The sentences of docs/differences.md, each with a check that runs both libraries."""
