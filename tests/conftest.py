"""How properties are tried: never by the clock, and the same examples in every CI run.

A run of one's own tries new examples each time, and shows how to repeat a failure.
"""

import os

from hypothesis import settings

settings.register_profile("own", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "own")
