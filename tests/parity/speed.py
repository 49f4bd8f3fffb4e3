"""Times the reference's file operations: `speed.py FOLDER`, one JSON call per line in, milliseconds per line out.

Runs in the virtual environment that has the reference. The calls go straight into its backend, in process, so that
neither an agent loop nor the start of Python is measured.
"""

import json
import sys
import time
import warnings

warnings.filterwarnings("ignore")

from deepagents.backends import FilesystemBackend  # noqa: E402


def main():
    backend = FilesystemBackend(root_dir=sys.argv[1], virtual_mode=True)
    for line in sys.stdin:
        call = json.loads(line)
        operation = getattr(backend, call["operation"])
        start = time.perf_counter()
        result = operation(**call["args"])
        took = (time.perf_counter() - start) * 1000
        error = getattr(result, "error", None)
        print(json.dumps({"ms": took, "error": error and str(error)}), flush=True)


if __name__ == "__main__":
    main()
