"""What a step costs the reference: `steps.py PROJECT STEPS BASE_URL` prints milliseconds of CPU per step.

Runs in the virtual environment that has the reference. Its agent does what `bosun run` does for the same figure of
`cargo xtask bench`: the same scripted model over HTTP, the same notes, one a step, and every step saved in SQLite before
the next one begins. The start of Python is not counted.
"""

import os
import sys
import tempfile
import time
import warnings

warnings.filterwarnings("ignore")

from deepagents import create_deep_agent  # noqa: E402
from deepagents.backends import FilesystemBackend  # noqa: E402
from langchain_core.messages import ToolMessage  # noqa: E402
from langchain_openai import ChatOpenAI  # noqa: E402
from langgraph.checkpoint.sqlite import SqliteSaver  # noqa: E402


def turn(project, task, url):
    """CPU seconds of a turn, and its calls that succeeded."""
    with tempfile.TemporaryDirectory() as folder, SqliteSaver.from_conn_string(os.path.join(folder, "steps.db")) as kept:
        agent = create_deep_agent(
            model=ChatOpenAI(model="bench", base_url=url, api_key="sk-bench", streaming=True),
            backend=FilesystemBackend(root_dir=project, virtual_mode=True),
            checkpointer=kept,
        )
        asked = {"messages": [{"role": "user", "content": task}]}
        setting = {"recursion_limit": 100_000, "configurable": {"thread_id": "steps"}}
        start = time.process_time()
        state = agent.invoke(asked, setting, durability="sync")
        took = time.process_time() - start
    results = [message for message in state["messages"] if isinstance(message, ToolMessage)]
    return took, sum(result.status == "success" for result in results)


def main():
    project, steps, url = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    nothing, _ = turn(project, "answer me", url)
    took, made = turn(project, f"read {steps} notes", url)
    if made != steps:
        sys.exit(f"the reference made {made} calls and not {steps}")
    print((took - nothing) * 1000 / steps)


if __name__ == "__main__":
    main()
