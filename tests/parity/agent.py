"""Plays calls into Bosun as a whole: `bosun run` with a model of this process, which makes them one a step or all in one."""

import json
import os
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Model(BaseHTTPRequestHandler):
    """Speaks the wire of OpenAI's chat completions. Which step is next it knows by those of its own that it is sent."""

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        messages = asked.get("messages", [])
        step = sum(message["role"] == "assistant" for message in messages)
        delta, reason = {"role": "assistant", "content": "done"}, "stop"
        if asked.get("tools"):
            self.server.sent[:] = messages
            if step < len(self.server.steps):
                delta, reason = {"role": "assistant", "tool_calls": self.server.steps[step]}, "tool_calls"
        chunks = [{"index": 0, "delta": delta, "finish_reason": None}, {"index": 0, "delta": {}, "finish_reason": reason}]
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        for choice in chunks:
            chunk = {"id": "c", "object": "chat.completion.chunk", "created": 0, "model": "m", "choices": [choice]}
            self.wfile.write(f"data: {json.dumps(chunk)}\n\n".encode())
        self.wfile.write(b"data: [DONE]\n\n")

    def log_message(self, *_):
        """Nothing of it belongs in the table."""


def text_of(content):
    return content if isinstance(content, str) else "\n".join(block.get("text", "") for block in content)


def play(bosun, root, data, calls, ids, together):
    """The text of the last result as the model is sent it; whether it failed shows only in its words."""
    proposed = [
        {
            "index": index if together else 0,
            "id": ids[index] if index < len(ids) else f"call_{index}",
            "type": "function",
            "function": {"name": tool, "arguments": json.dumps(args)},
        }
        for index, (tool, args) in enumerate(calls)
    ]
    server = ThreadingHTTPServer(("127.0.0.1", 0), Model)
    server.steps, server.sent = [proposed] if together else [[call] for call in proposed], []
    threading.Thread(target=server.serve_forever, daemon=True).start()
    environment = {"PATH": os.environ["PATH"], "HOME": data, "BOSUN_DATA_DIR": data, "OPENAI_API_KEY": "sk-test"}
    words = ["run", "--project", root, "--model", "openai:test-model", "--approve", "all"]
    words += ["--base-url", f"http://127.0.0.1:{server.server_port}/v1", "go"]
    done = subprocess.run([bosun, *words], stdin=subprocess.DEVNULL, capture_output=True, text=True, env=environment)
    server.shutdown()
    server.server_close()
    results = [message for message in server.sent if message["role"] == "tool"]
    if done.returncode or not results:
        return {"status": "aborted", "content": done.stderr}
    content = text_of(results[-1]["content"])
    return {"status": "error" if content.startswith("Error") else "success", "content": content}
