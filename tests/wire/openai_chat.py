"""OpenAI Chat Completions."""

import json

import openai

from script import CALLS, KEY, MODEL, TEXT, check, equal, raises

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
