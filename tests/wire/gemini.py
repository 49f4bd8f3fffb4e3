"""Google's Gemini API."""

from google import genai
from google.genai import errors, types

from script import CALLS, KEY, MODEL, TEXT, check, equal, raises

TOOLS = [types.Tool(function_declarations=[
    types.FunctionDeclaration(name=name, description=name, parameters_json_schema={"type": "object"})
    for name in ("ls", "grep")
])]


def client(port, key=KEY):
    return genai.Client(api_key=key, http_options=types.HttpOptions(base_url=f"http://127.0.0.1:{port}"))


def config():
    disabled = types.AutomaticFunctionCallingConfig(disable=True)
    return types.GenerateContentConfig(system_instruction="Be brief.", tools=TOOLS, automatic_function_calling=disabled)


def chunks(one, contents):
    return list(one.models.generate_content_stream(model=MODEL, contents=contents, config=config()))


def parts(seen):
    return [part for chunk in seen for candidate in chunk.candidates for part in candidate.content.parts]


@check
def gemini_text(port):
    seen = chunks(client(port), "plain")
    texts = [part.text for part in parts(seen) if part.text]
    assert len(texts) > 2, texts
    equal("".join(texts), TEXT)
    equal(seen[-1].candidates[0].finish_reason, types.FinishReason.STOP)
    usage = seen[-1].usage_metadata
    equal((usage.prompt_token_count, usage.cached_content_token_count, usage.candidates_token_count,
           usage.thoughts_token_count, usage.total_token_count), (100, 60, 13, 7, 120))


@check
def gemini_thinking(port):
    seen = parts(chunks(client(port), "think"))
    equal("".join(part.text for part in seen if part.thought), "First, think.")
    equal([part.thought_signature for part in seen if part.thought_signature], [b"sig"])


@check
def gemini_parallel_calls(port):
    calls = [part.function_call for part in parts(chunks(client(port), "calls")) if part.function_call]
    equal([(call.id, call.name, call.args) for call in calls],
          [("call_a", "ls", {"path": "/src"}), (None, "grep", CALLS[1]["call"]["args"])])


@check
def gemini_turn(port):
    one = client(port)
    contents = [types.Content(role="user", parts=[types.Part.from_text(text="a turn")])]
    call = next(part for part in parts(chunks(one, contents)) if part.function_call)
    contents.append(types.Content(role="model", parts=[call]))
    answer = types.Part.from_function_response(name="ls", response={"output": "/a.txt"})
    contents.append(types.Content(role="user", parts=[answer]))
    equal("".join(part.text or "" for part in parts(chunks(one, contents))), "the turn is over")


@check
def gemini_whole_limit_and_length(port):
    one = client(port)
    whole = one.models.generate_content(model=MODEL, contents="calls", config=config())
    equal([call.name for call in whole.function_calls], ["ls", "grep"])
    equal(chunks(client(port), "limit")[-1].candidates[0].finish_reason, types.FinishReason.MAX_TOKENS)
    equal("".join(part.text or "" for part in parts(chunks(client(port), "long"))), "word " * 2000)


@check
def gemini_errors(port):
    busy = raises(errors.ClientError, lambda: chunks(client(port), "busy"))
    equal((busy.code, busy.message), (429, "slow down"))
    refused = raises(errors.ClientError, lambda: chunks(client(port, "sk-wrong"), "plain"))
    equal((refused.code, refused.status), (401, "UNAUTHENTICATED"))
    spoiled = raises(errors.APIError, lambda: chunks(client(port), "spoiled"))
    assert "too busy" in str(spoiled), spoiled
    raises(Exception, lambda: chunks(client(port), "cut"))


@check
def gemini_models(port):
    # A client without a holder closes its connections before the request.
    one = client(port)
    models = list(one.models.list())
    equal([model.name for model in models], [f"models/{MODEL}", "models/other-model"])
    equal(models[0].input_token_limit, 1_048_576)
