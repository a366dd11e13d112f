"""The programs beside these tests are run by them, in processes of their own: none is imported to look for examples."""

collect_ignore = ["programs"]
