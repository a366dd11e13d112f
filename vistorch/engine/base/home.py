"""Where this package lies: a line of code below it is not the user's.

Invariant: it does not depend on the folder that this file is in.
"""

import os
import sys

HOME = os.path.dirname(os.path.abspath(str(sys.modules[__name__.partition(".")[0]].__file__))) + os.sep
