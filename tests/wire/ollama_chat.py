"""Ollama's own API."""

import ollama

from script import CALLS, KEY, MODEL, TEXT, check, equal, raises

TOOLS = [{"type": "function", "function": {"name": name, "parameters": {"type": "object"}}} for name in ("ls", "grep")]


def client(port, key=KEY):
    return ollama.Client(host=f"http://127.0.0.1:{port}", headers={"authorization": f"Bearer {key}"})


def lines(one, messages):
    if isinstance(messages, str):
        messages = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": messages}]
    return list(one.chat(model=MODEL, messages=messages, tools=TOOLS, stream=True))


@check
def ollama_text(port):
    seen = lines(client(port), "plain")
    assert len(seen) > 3, seen
    equal("".join(line.message.content for line in seen), TEXT)
    equal([line.done for line in seen], [False] * (len(seen) - 1) + [True])
    last = seen[-1]
    equal((last.done_reason, last.prompt_eval_count, last.eval_count), ("stop", 100, 20))


@check
def ollama_thinking(port):
    equal("".join(line.message.thinking or "" for line in lines(client(port), "think")), "First, think.")


@check
def ollama_parallel_calls(port):
    seen = lines(client(port), "calls")
    calls = [call.function for line in seen for call in line.message.tool_calls or []]
    equal([(call.name, dict(call.arguments)) for call in calls],
          [("ls", {"path": "/src"}), ("grep", CALLS[1]["call"]["args"])])


@check
def ollama_turn(port):
    one = client(port)
    messages = [{"role": "user", "content": "a turn"}]
    call = next(line.message for line in lines(one, messages) if line.message.tool_calls)
    messages += [call, {"role": "tool", "tool_name": "ls", "content": "/a.txt"}]
    equal("".join(line.message.content for line in lines(one, messages)), "the turn is over")


@check
def ollama_whole_limit_and_length(port):
    messages = [{"role": "user", "content": "calls"}]
    whole = client(port).chat(model=MODEL, messages=messages, tools=TOOLS)
    equal((whole.message.content, len(whole.message.tool_calls)), ("Looking.", 2))
    equal(lines(client(port), "limit")[-1].done_reason, "length")
    equal("".join(line.message.content for line in lines(client(port), "long")), "word " * 2000)


@check
def ollama_errors(port):
    busy = raises(ollama.ResponseError, lambda: lines(client(port), "busy"))
    equal(busy.status_code, 429)
    equal(raises(ollama.ResponseError, lambda: lines(client(port, "sk-wrong"), "plain")).status_code, 401)
    spoiled = raises(ollama.ResponseError, lambda: lines(client(port), "spoiled"))
    assert "too busy" in str(spoiled), spoiled
    raises(Exception, lambda: lines(client(port), "cut"))


@check
def ollama_models(port):
    equal([model.model for model in client(port).list().models], [MODEL, "other-model"])
