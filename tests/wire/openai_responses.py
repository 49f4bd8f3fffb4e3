"""OpenAI Responses."""

import json

import openai

from openai_chat import o_client
from script import CALLS, MODEL, TEXT, check, equal, raises

TOOLS = [{"type": "function", "name": name, "parameters": {"type": "object"}, "strict": False} for name in ("ls", "grep")]


def ask(items):
    if isinstance(items, str):
        items = [{"role": "user", "content": items}]
    return {"model": MODEL, "instructions": "Be brief.", "tools": TOOLS, "input": items, "store": False}


def events(client, items):
    return list(client.responses.create(stream=True, **ask(items)))


def final(client, items):
    with client.responses.stream(**ask(items)) as stream:
        for _ in stream:
            pass
        return stream.get_final_response()


@check
def responses_text(port):
    seen = events(o_client(port), "plain")
    deltas = [event.delta for event in seen if event.type == "response.output_text.delta"]
    assert len(deltas) > 2, deltas
    equal("".join(deltas), TEXT)
    equal((seen[0].type, seen[-1].type), ("response.created", "response.completed"))
    equal([event.sequence_number for event in seen], list(range(len(seen))))
    usage = seen[-1].response.usage
    equal((usage.input_tokens, usage.output_tokens, usage.total_tokens), (100, 20, 120))
    details = usage.input_tokens_details
    equal((details.cached_tokens, details.cache_write_tokens, usage.output_tokens_details.reasoning_tokens), (60, 10, 7))
    equal(final(o_client(port), "plain").output_text, TEXT)


@check
def responses_thinking(port):
    output = final(o_client(port), "think").output
    equal([item.type for item in output], ["reasoning", "message"])
    equal((output[0].summary[0].text, output[0].encrypted_content), ("First, think.", "c2ln"))
    equal(final(o_client(port), "redacted").output[0].encrypted_content, "b3BhcXVl")


@check
def responses_parallel_calls(port):
    message, first, second = final(o_client(port), "calls").output
    equal(message.content[0].text, "Looking.")
    equal((first.call_id, first.name, json.loads(first.arguments)), ("call_a", "ls", {"path": "/src"}))
    equal((second.name, json.loads(second.arguments)), ("grep", CALLS[1]["call"]["args"]))
    assert second.call_id and second.call_id != first.call_id


@check
def responses_turn(port):
    client = o_client(port)
    items = [{"role": "user", "content": "a turn"}]
    call = final(client, items).output[0]
    items.append({"type": "function_call", "call_id": call.call_id, "name": call.name, "arguments": call.arguments})
    items.append({"type": "function_call_output", "call_id": call.call_id, "output": "/a.txt"})
    equal(final(client, items).output_text, "the turn is over")


@check
def responses_whole(port):
    output = o_client(port).responses.create(**ask("calls")).output
    equal([item.type for item in output], ["message", "function_call", "function_call"])


@check
def responses_limit_and_length(port):
    limited = events(o_client(port), "limit")[-1]
    equal((limited.type, limited.response.incomplete_details.reason), ("response.incomplete", "max_output_tokens"))
    equal(final(o_client(port), "long").output_text, "word " * 2000)


@check
def responses_errors(port):
    busy = raises(openai.RateLimitError, lambda: events(o_client(port), "busy"))
    equal((busy.status_code, busy.response.headers["retry-after"]), (429, "7"))
    raises(openai.AuthenticationError, lambda: events(o_client(port, "sk-wrong"), "plain"))
    try:
        spoiled = events(o_client(port), "spoiled")[-1]
        equal((spoiled.type, spoiled.message), ("error", "too busy"))
    except openai.APIError as error:
        assert "too busy" in str(error), error
    raises(Exception, lambda: events(o_client(port), "cut"))
