"""How properties are tried, and what processes that tests start inherit.

Properties are never judged by the clock, and CI tries the same examples in every run; a run of
one's own tries new ones each time, and shows how to repeat a failure.
"""

import os
import signal

from hypothesis import settings

# A shell starts what it runs in the background deaf to Ctrl-C, and so would be all it starts.
signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile("own", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "own")
