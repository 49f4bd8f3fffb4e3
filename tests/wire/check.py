#!/usr/bin/env python3
"""Checks the test model server's wire formats with the vendors' own Python clients.

    python3 tests/wire/check.py PATH/TO/bosun-model-server

Needs the packages `anthropic` and `openai` in the interpreter that runs it (`cargo xtask test` makes a virtual environment
for them and skips this check where that is impossible). Starts the server, talks to it, stops it. Prints one line per check;
exit code 0 when all hold, 1 when one does not, 2 when it could not begin.
"""

import json
import subprocess
import sys
import traceback

try:
    import anthropic
    import openai
except ImportError as error:
    print(f"cannot check the wire formats: {error}", file=sys.stderr)
    sys.exit(2)

KEY = "sk-wire-check"
MODEL = "test-model"
TEXT = "Grüße, 世界 — a reply of several deltas."
USAGE = {"input": 100, "output": 20, "cache_read": 60, "cache_write": 10, "reasoning": 7}
CALLS = [
    {"call": {"name": "ls", "args": {"path": "/src"}, "id": "call_a"}},
    {"call": {"name": "grep", "args": {"pattern": 'fn "main"', "glob": "*.rs"}}},
]


def rule(word, reply, **more):
    return {"when": {"last": {"contains": word}}, "order": "repeat_last", "replies": [reply], **more}


SCRIPT = {
    "key": KEY,
    "models": [MODEL, "other-model"],
    "rules": [
        rule("plain", {"parts": [{"text": TEXT}], "usage": USAGE}),
        rule("think", {"parts": [{"reasoning": {"text": "First, think.", "signature": "c2ln"}}, "ping", {"text": TEXT}]}),
        rule("redacted", {"parts": [{"redacted_reasoning": "b3BhcXVl"}, {"text": TEXT}]}),
        rule("calls", {"parts": [{"text": "Looking."}, *CALLS], "delta_chars": 3}),
        rule("long", {"parts": [{"deltas": {"text": "word ", "count": 2000}}]}),
        rule("limit", {"parts": [{"text": "cut off"}], "stop": "max_tokens"}),
        rule("busy", {
            "http": {"status": 429, "body": {"type": "error", "error": {"type": "rate_limit_error", "message": "slow down"}}},
            "headers": [["retry-after", "7"], ["content-type", "application/json"]],
        }),
        rule("spoiled", {"parts": [{"text": "half"}, {"error": {"type": "overloaded_error", "message": "too busy"}}]}),
        rule("cut", {"parts": [{"text": "half"}, *CALLS], "ending": "cut_in_call"}),
        {"when": {"last_human": {"contains": "turn"}}, "order": "by_step",
         "replies": [{"parts": [CALLS[0]]}, "the turn is over"]},
        {"when": {"last_human": {"contains": "again and again"}},
         "loop": {"steps": 3, "call": "ls", "args": {"path": "/{n}"}}, "replies": ["looped"]},
    ],
}

CHECKS = []


def check(function):
    CHECKS.append(function)
    return function


def equal(left, right):
    assert left == right, f"{left!r} is not {right!r}"


def raises(kind, action):
    try:
        action()
    except kind as error:
        return error
    raise AssertionError(f"no {kind.__name__} was raised")


# --- Anthropic Messages ---

TOOLS_A = [{"name": name, "description": name, "input_schema": {"type": "object"}} for name in ("ls", "grep")]


def a_client(port, key=KEY):
    return anthropic.Anthropic(api_key=key, base_url=f"http://127.0.0.1:{port}", max_retries=0)


def a_ask(messages):
    if isinstance(messages, str):
        messages = [{"role": "user", "content": messages}]
    return {"model": MODEL, "max_tokens": 1000, "tools": TOOLS_A, "messages": messages}


def a_final(client, messages):
    with client.messages.stream(**a_ask(messages)) as stream:
        for _ in stream:
            pass
        return stream.get_final_message()


@check
def anthropic_text(port):
    with a_client(port).messages.stream(**a_ask("plain")) as stream:
        deltas = list(stream.text_stream)
        final = stream.get_final_message()
    assert len(deltas) > 2, deltas
    equal("".join(deltas), TEXT)
    equal((final.role, final.model, final.stop_reason), ("assistant", MODEL, "end_turn"))
    usage = final.usage
    equal((usage.input_tokens, usage.cache_read_input_tokens, usage.cache_creation_input_tokens, usage.output_tokens),
          (30, 60, 10, 20))


@check
def anthropic_raw_events_in_order(port):
    events = [event.type for event in a_client(port).messages.create(stream=True, **a_ask("plain"))]
    equal((events[0], events[1], events[-3], events[-2], events[-1]),
          ("message_start", "content_block_start", "content_block_stop", "message_delta", "message_stop"))
    equal(set(events[2:-3]), {"content_block_delta"})


@check
def anthropic_thinking(port):
    final = a_final(a_client(port), "think")
    equal([block.type for block in final.content], ["thinking", "text"])
    equal((final.content[0].thinking, final.content[0].signature), ("First, think.", "c2ln"))
    final = a_final(a_client(port), "redacted")
    equal((final.content[0].type, final.content[0].data), ("redacted_thinking", "b3BhcXVl"))


@check
def anthropic_parallel_calls(port):
    final = a_final(a_client(port), "calls")
    equal(final.stop_reason, "tool_use")
    equal([block.type for block in final.content], ["text", "tool_use", "tool_use"])
    first, second = final.content[1:]
    equal((first.id, first.name, first.input), ("call_a", "ls", {"path": "/src"}))
    equal((second.name, second.input), ("grep", CALLS[1]["call"]["args"]))
    assert second.id and second.id != first.id


@check
def anthropic_turn(port):
    client = a_client(port)
    messages = [{"role": "user", "content": "a turn"}]
    reply = a_final(client, messages)
    result = {"type": "tool_result", "tool_use_id": reply.content[0].id, "content": [{"type": "text", "text": "/a.txt"}]}
    messages += [{"role": "assistant", "content": reply.content}, {"role": "user", "content": [result]}]
    equal(a_final(client, messages).content[0].text, "the turn is over")


@check
def anthropic_loop(port):
    client = a_client(port)
    messages = [{"role": "user", "content": "again and again"}]
    for step in range(3):
        call = a_final(client, messages).content[0]
        equal(call.input, {"path": f"/{step}"})
        result = {"type": "tool_result", "tool_use_id": call.id, "content": "ok"}
        messages += [{"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}]
    equal(a_final(client, messages).content[0].text, "looped")


@check
def anthropic_whole(port):
    reply = a_client(port).messages.create(**a_ask("calls"))
    equal((reply.stop_reason, reply.content[0].text, reply.content[1].input), ("tool_use", "Looking.", {"path": "/src"}))


@check
def anthropic_limit_and_length(port):
    equal(a_final(a_client(port), "limit").stop_reason, "max_tokens")
    equal(a_final(a_client(port), "long").content[0].text, "word " * 2000)


@check
def anthropic_errors(port):
    busy = raises(anthropic.RateLimitError, lambda: a_final(a_client(port), "busy"))
    equal((busy.status_code, busy.response.headers["retry-after"]), (429, "7"))
    equal(busy.body["error"]["message"], "slow down")
    refused = raises(anthropic.AuthenticationError, lambda: a_final(a_client(port, "sk-wrong"), "plain"))
    equal(refused.body["error"]["type"], "authentication_error")
    spoiled = raises(anthropic.APIStatusError, lambda: a_final(a_client(port), "spoiled"))
    assert "too busy" in str(spoiled), spoiled
    raises(Exception, lambda: a_final(a_client(port), "cut"))


@check
def anthropic_models(port):
    equal([model.id for model in a_client(port).models.list()], [MODEL, "other-model"])


# --- OpenAI Chat Completions ---

TOOLS_O = [{"type": "function", "function": {"name": name, "parameters": {"type": "object"}}} for name in ("ls", "grep")]


def o_client(port, key=KEY):
    return openai.OpenAI(api_key=key, base_url=f"http://127.0.0.1:{port}/v1", max_retries=0)


def o_ask(messages):
    if isinstance(messages, str):
        messages = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": messages}]
    return {"model": MODEL, "tools": TOOLS_O, "messages": messages}


def o_chunks(client, messages):
    return list(client.chat.completions.create(stream=True, stream_options={"include_usage": True}, **o_ask(messages)))


def o_final(client, messages):
    with client.chat.completions.stream(stream_options={"include_usage": True}, **o_ask(messages)) as stream:
        for _ in stream:
            pass
        return stream.get_final_completion()


@check
def openai_text(port):
    chunks = o_chunks(o_client(port), "plain")
    deltas = [chunk.choices[0].delta.content for chunk in chunks if chunk.choices and chunk.choices[0].delta.content]
    assert len(deltas) > 2, deltas
    equal("".join(deltas), TEXT)
    equal([chunk.choices[0].finish_reason for chunk in chunks if chunk.choices][-1], "stop")
    usage = chunks[-1].usage
    equal((usage.prompt_tokens, usage.completion_tokens, usage.total_tokens), (100, 20, 120))
    equal(usage.prompt_tokens_details.cached_tokens, 60)
    equal(usage.completion_tokens_details.reasoning_tokens, 7)
    equal(len({chunk.id for chunk in chunks}), 1)


@check
def openai_thinking(port):
    chunks = o_chunks(o_client(port), "think")
    parts = [getattr(chunk.choices[0].delta, "reasoning_content", None) for chunk in chunks if chunk.choices]
    equal("".join(part for part in parts if part), "First, think.")


@check
def openai_parallel_calls(port):
    final = o_final(o_client(port), "calls").choices[0]
    equal((final.finish_reason, final.message.content), ("tool_calls", "Looking."))
    first, second = final.message.tool_calls
    equal((first.id, first.function.name, json.loads(first.function.arguments)), ("call_a", "ls", {"path": "/src"}))
    equal((second.function.name, json.loads(second.function.arguments)), ("grep", CALLS[1]["call"]["args"]))
    assert second.id and second.id != first.id


@check
def openai_turn(port):
    client = o_client(port)
    messages = [{"role": "user", "content": "a turn"}]
    reply = o_final(client, messages).choices[0].message
    call = reply.tool_calls[0]
    function = {"name": call.function.name, "arguments": call.function.arguments}
    messages.append({"role": "assistant", "tool_calls": [{"id": call.id, "type": "function", "function": function}]})
    messages.append({"role": "tool", "tool_call_id": call.id, "content": "/a.txt"})
    equal(o_final(client, messages).choices[0].message.content, "the turn is over")


@check
def openai_whole(port):
    reply = o_client(port).chat.completions.create(**o_ask("calls")).choices[0]
    equal((reply.finish_reason, reply.message.content, len(reply.message.tool_calls)), ("tool_calls", "Looking.", 2))


@check
def openai_limit_and_length(port):
    limit = raises(openai.LengthFinishReasonError, lambda: o_final(o_client(port), "limit"))
    equal(limit.completion.choices[0].finish_reason, "length")
    equal(o_final(o_client(port), "long").choices[0].message.content, "word " * 2000)


@check
def openai_errors(port):
    busy = raises(openai.RateLimitError, lambda: o_chunks(o_client(port), "busy"))
    equal((busy.status_code, busy.response.headers["retry-after"]), (429, "7"))
    refused = raises(openai.AuthenticationError, lambda: o_chunks(o_client(port, "sk-wrong"), "plain"))
    equal(refused.code, "authentication_error")
    spoiled = raises(openai.APIError, lambda: o_chunks(o_client(port), "spoiled"))
    assert "too busy" in str(spoiled), spoiled
    raises(Exception, lambda: o_chunks(o_client(port), "cut"))


@check
def openai_models(port):
    equal([model.id for model in o_client(port).models.list()], [MODEL, "other-model"])


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
    print(f"anthropic {anthropic.__version__}, openai {openai.__version__}")
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
