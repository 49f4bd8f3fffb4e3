"""Anthropic Messages."""

import anthropic

from script import CALLS, KEY, MODEL, TEXT, check, equal, raises

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
