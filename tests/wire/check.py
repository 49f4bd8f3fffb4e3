#!/usr/bin/env python3
"""Checks the test model server's wire formats, and Bosun's requests, with the vendors' own Python clients.

    python3 tests/wire/check.py PATH/TO/bosun-model-server

Needs the packages of requirements.txt in the interpreter that runs it (`cargo xtask test` makes a virtual environment for them
and skips this check where that is impossible). Starts the server, talks to it, stops it. Prints one line per check; exit code
0 when all hold, 1 when one does not, 2 when it could not begin.
"""

import json
import subprocess
import sys
import traceback
from importlib.metadata import version

# Nothing is left in the source tree.
sys.dont_write_bytecode = True

try:
    import anthropic_messages
    import clouds
    import gemini
    import ollama_chat
    import openai_chat
    import openai_responses
    import requests_of_bosun
except ImportError as error:
    print(f"cannot check the wire formats: {error}", file=sys.stderr)
    sys.exit(2)

from script import CHECKS, SCRIPT

CLIENTS = ("anthropic", "botocore", "openai", "google-genai", "ollama")


def main():
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    server = subprocess.Popen([sys.argv[1], "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    server.stdin.write(json.dumps(SCRIPT) + "\n")
    server.stdin.flush()
    port = server.stdout.readline().strip()
    if not port.isdigit():
        print("the server did not start", file=sys.stderr)
        return 2
    print(", ".join(f"{name} {version(name)}" for name in CLIENTS))
    failed = 0
    for one in CHECKS:
        try:
            one(int(port))
            print(f"ok    {one.__name__}")
        except Exception:
            failed += 1
            print(f"FAIL  {one.__name__}")
            traceback.print_exc()
    server.stdin.close()
    if server.wait(timeout=20) != 0:
        failed += 1
        print("FAIL  the server met requests it has no rule for")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
