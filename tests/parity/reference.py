"""Plays calls into the reference. Runs in the venv that has it: JSON lines in, one line of answers out for each."""

import base64
import json
import os
import sys
import tempfile
import warnings

warnings.filterwarnings("ignore")

from deepagents import create_deep_agent  # noqa: E402
from deepagents.backends import (  # noqa: E402
    CompositeBackend,
    FilesystemBackend,
    LocalShellBackend,
    StateBackend,
    StoreBackend,
)
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel  # noqa: E402
from langchain_core.messages import AIMessage, ToolMessage  # noqa: E402
from langgraph.store.memory import InMemoryStore  # noqa: E402


class Scripted(GenericFakeChatModel):
    """A model that makes the calls it was given, one a turn."""

    def bind_tools(self, tools, **kwargs):
        return self


def backend_of(kind, root):
    disk = lambda: FilesystemBackend(root_dir=root, virtual_mode=True)
    if kind == "state":
        return StateBackend()
    if kind == "filesystem":
        return disk()
    if kind == "shell":
        return LocalShellBackend(root_dir=root, virtual_mode=True, inherit_env=True)
    if kind == "store":
        return StoreBackend(namespace=lambda *_: ("memories", "user"))
    return CompositeBackend(default=disk(), routes={"/memories/": StateBackend()})


def play(kind, calls, disk):
    with tempfile.TemporaryDirectory() as root:
        for name, content in disk.items():
            path = os.path.join(root, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as file:
                file.write(base64.b64decode(content))
        replies = [
            AIMessage(content="", tool_calls=[{"name": tool, "args": args, "id": f"call_{index}"}])
            for index, (tool, args) in enumerate(calls)
        ]
        model = Scripted(messages=iter([*replies, AIMessage(content="done")]))
        agent = create_deep_agent(model=model, backend=backend_of(kind, root), store=InMemoryStore())
        try:
            state = agent.invoke({"messages": [{"role": "user", "content": "go"}]})
        except Exception as error:  # a tool that aborts the run is an answer too
            return {"status": "aborted", "content": f"{type(error).__name__}: {error}"}
        last = [message for message in state["messages"] if isinstance(message, ToolMessage)][-1]
        return {"status": last.status, "content": last.content}


for line in sys.stdin:
    asked = json.loads(line)
    print(json.dumps(play(asked["backend"], asked["calls"], asked["disk"])), flush=True)
