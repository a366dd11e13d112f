"""The programs are run each in a process of its own, with libraries that the tests do not have."""

collect_ignore = ["programs"]
