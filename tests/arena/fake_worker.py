"""A real Celery worker or beat, as a program, with a referee that is a function.

``python -m tests.arena.fake_worker worker|slow-worker|beat``, with settings from the environment. The slow
worker's referee gives a sign of life every 0.1 s and finishes a session after every fifth.
"""

import gc
import sys

if __name__ == "__main__":
    gc.disable()  # until everything is loaded, as in ``arena``: this saves a third of the start-up time
    from tests.arena.fake_tasks import run

    gc.freeze()
    gc.enable()
    run(sys.argv[1])
