"""Which tests this Python can run."""

import sys

# an instruction knows its place within its line since Python 3.11
collect_ignore = [] if sys.version_info >= (3, 11) else ["test_written.py"]
