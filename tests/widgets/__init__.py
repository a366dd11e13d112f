"""Tests of the path from a record to the screen."""
