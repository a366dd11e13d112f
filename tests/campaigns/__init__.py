"""Campaigns: many tries against one promise, counted. `python -m tests.campaigns` prints the table.

A campaign is a function of how many tries it is given; the suite runs each with a few (`test_campaigns.py`), by hand
each runs with its full number. Invariant: a try that fails is named, so that it can be run again alone.
"""
