"""What a turn costs the reference: `turn.py PROJECT TASK CALLS BASE_URL` prints milliseconds of CPU per call.

CALLS is how many calls the scripted model makes for TASK: one a step, or many subagents at once. Runs in the virtual
environment that has the reference. Its agent does what `bosun run` does for the same figure of `cargo xtask bench`: the
same scripted model over HTTP, the same notes, and every step saved in SQLite before the next one begins. The start of
Python is not counted.
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
    with tempfile.TemporaryDirectory() as folder, SqliteSaver.from_conn_string(os.path.join(folder, "turn.db")) as kept:
        agent = create_deep_agent(
            model=ChatOpenAI(model="bench", base_url=url, api_key="sk-bench", streaming=True),
            backend=FilesystemBackend(root_dir=project, virtual_mode=True),
            checkpointer=kept,
        )
        asked = {"messages": [{"role": "user", "content": task}]}
        setting = {"recursion_limit": 100_000, "configurable": {"thread_id": "turn"}}
        start = time.process_time()
        state = agent.invoke(asked, setting, durability="sync")
        took = time.process_time() - start
    results = [message for message in state["messages"] if isinstance(message, ToolMessage)]
    return took, sum(result.status == "success" for result in results)


def main():
    project, task, calls, url = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]
    nothing, _ = turn(project, "answer me", url)
    took, made = turn(project, task, url)
    if made != calls:
        sys.exit(f"the reference made {made} calls and not {calls}")
    print((took - nothing) * 1000 / calls)


if __name__ == "__main__":
    main()
