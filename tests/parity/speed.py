"""Times the reference's file operations: `speed.py FOLDER`, one JSON call per line in, milliseconds per line out.

`speed.py --store NUMBER` does the same over its store in memory, with as many of the notes that `cargo xtask bench` writes.

Runs in the virtual environment that has the reference. The calls go straight into its backend, in process, so that
neither an agent loop nor the start of Python is measured.
"""

import json
import sys
import time
import warnings

warnings.filterwarnings("ignore")

from deepagents.backends import FilesystemBackend, StoreBackend  # noqa: E402
from langgraph.store.memory import InMemoryStore  # noqa: E402

WORDS = (
    "anchor ballast cleat davit ensign fathom gangway halyard jib keel lanyard mast oar pier quay rudder"
).split()


def note(number):
    """As in xtask/src/bench/store.rs."""
    mixed = number * 2_654_435_761 % 2**32
    words = [WORDS[(mixed << step % 32 | mixed >> (32 - step % 32)) % 2**32 % 16] for step in range(40)]
    log = "航海日志\n" if number % 10_000 == 4_207 else ""
    return f"/area{number % 100}/note{number:05}.md", f"note {number:05} of the log\n{' '.join(words)}\n{log}"


def store(notes):
    kept, namespace = InMemoryStore(), ("bench", "notes")
    for path, content in map(note, range(notes)):
        value = {"content": content, "encoding": "utf-8", "created_at": "", "modified_at": ""}
        kept.put(namespace, path, value)
    return StoreBackend(store=kept, namespace=lambda *_: namespace)


def main():
    kind, *rest = sys.argv[1:]
    backend = store(int(rest[0])) if kind == "--store" else FilesystemBackend(root_dir=kind, virtual_mode=True)
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
