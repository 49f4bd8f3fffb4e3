"""Plays calls into the reference. Runs in the venv that has it: JSON lines in, one line of answers out for each."""

import base64
import json
import os
import subprocess
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
from deepagents.backends.protocol import (  # noqa: E402
    ExecuteResponse,
    FileDownloadResponse,
    FileUploadResponse,
)
from deepagents.backends.sandbox import BaseSandbox  # noqa: E402
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel  # noqa: E402
from langchain_core.messages import AIMessage, ToolMessage  # noqa: E402
from langgraph.store.memory import InMemoryStore  # noqa: E402


#: What a model was sent last.
SENT = []


class Scripted(GenericFakeChatModel):
    """A model that makes the calls it was given, one a turn."""

    def bind_tools(self, tools, **kwargs):
        return self

    def _generate(self, messages, *args, **kwargs):
        SENT[:] = messages
        return super()._generate(messages, *args, **kwargs)


class Here(BaseSandbox):
    """The reference's base of its sandboxes over processes of this machine, without a sandbox.

    Its paths are the machine's own: what is asked for below / is put below the folder, and told without it.
    """

    def __init__(self, root):
        self.root = root

    @property
    def id(self):
        return "here"

    def execute(self, command, *, timeout=None):
        done = subprocess.run(["/bin/sh", "-c", command], cwd=self.root, capture_output=True, timeout=timeout or 60)
        output = (done.stdout + done.stderr).decode(errors="replace")
        return ExecuteResponse(output=output, exit_code=done.returncode, truncated=False)

    def upload_files(self, files):
        for path, content in files:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as file:
                file.write(content)
        return [FileUploadResponse(path=path, error=None) for path, _ in files]

    def download_files(self, paths):
        answers = []
        for path in paths:
            try:
                with open(path, "rb") as file:
                    answers.append(FileDownloadResponse(path=path, content=file.read(), error=None))
            except FileNotFoundError:
                answers.append(FileDownloadResponse(path=path, content=None, error="file_not_found"))
        return answers

    def placed(self, tool, args):
        args = dict(args)
        if tool in ("glob", "grep"):
            args.setdefault("path", "/")
        for name in ("file_path", "path"):
            path = args.get(name)
            if path is not None and not path.startswith(("~", "..")) and ":" not in path:
                args[name] = self.root if path == "/" else f"{self.root}/{path.removeprefix('/')}"
        return args

    def told(self, content):
        if isinstance(content, str):
            return content.replace(f"{self.root}/", "/").replace(self.root, "/")
        return content


def backend_of(kind, root):
    disk = lambda: FilesystemBackend(root_dir=root, virtual_mode=True)
    if kind == "state":
        return StateBackend()
    if kind == "filesystem":
        return disk()
    if kind in ("shell", "agent"):
        return LocalShellBackend(root_dir=root, virtual_mode=True, inherit_env=True)
    if kind == "sandbox":
        return Here(root)
    if kind == "store":
        return StoreBackend(namespace=lambda *_: ("memories", "user"))
    return CompositeBackend(default=disk(), routes={"/memories/": StateBackend()})


def play(kind, calls, disk, links, together, ids):
    with tempfile.TemporaryDirectory() as root:
        for name, content in disk.items():
            path = os.path.join(root, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as file:
                file.write(base64.b64decode(content))
        for name, target in links.items():
            os.symlink(target, os.path.join(root, name))
        backend = backend_of(kind, root)
        if isinstance(backend, Here):
            calls = [(tool, backend.placed(tool, args)) for tool, args in calls]
        proposed = [
            {"name": tool, "args": args, "id": ids[index] if index < len(ids) else f"call_{index}"}
            for index, (tool, args) in enumerate(calls)
        ]
        steps = [proposed] if together else [[call] for call in proposed]
        replies = [AIMessage(content="", tool_calls=step) for step in steps]
        model = Scripted(messages=iter([*replies, AIMessage(content="done")]))
        agent = create_deep_agent(model=model, backend=backend, store=InMemoryStore())
        try:
            state = agent.invoke({"messages": [{"role": "user", "content": "go"}]})
        except Exception as error:  # a tool that aborts the run is an answer too
            return {"status": "aborted", "content": f"{type(error).__name__}: {error}"}
        seen = SENT if kind == "agent" else state["messages"]
        last = [message for message in seen if isinstance(message, ToolMessage)][-1]
        content = backend.told(last.content) if isinstance(backend, Here) else last.content
        return {"status": last.status, "content": content}


for line in sys.stdin:
    asked = json.loads(line)
    told = play(*(asked[part] for part in ("backend", "calls", "disk", "links", "together", "ids")))
    print(json.dumps(told), flush=True)
