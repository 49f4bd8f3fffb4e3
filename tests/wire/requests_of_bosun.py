"""Bosun's own requests, as its golden files have them, against the clients' request types.

A field that a type does not know, or of another shape than it wants, fails the check.
"""

import collections.abc
import json
import types as types_of_python
import typing
from pathlib import Path

import typing_extensions
from anthropic.types.beta.message_create_params import MessageCreateParamsStreaming as BetaParamsStreaming
from anthropic.types.message_create_params import MessageCreateParamsStreaming
from google.genai import types
from ollama._types import ChatRequest
from openai.types.chat.completion_create_params import CompletionCreateParamsStreaming
from openai.types.responses.response_create_params import ResponseCreateParamsStreaming

from script import check, equal

SOURCES = Path(__file__).parents[2] / "crates/providers/src"
# Other servers' additions to Chat Completions, which the vendor's type cannot know.
ADDITIONS = {"reasoning_content", "reasoning_details", "extra_content", "enable_thinking", "thinking", "reasoning", "cache_control"}


def bodies(family, pattern="{}/snapshots/*__encode__tests__*.snap"):
    """The golden bodies of a family, by the name of their test."""
    found = sorted(SOURCES.glob(pattern.format(family)))
    assert found, f"no golden files of {family}"
    for path in found:
        body = json.loads(path.read_text(encoding="utf-8").split("\n---\n", 1)[1])
        if isinstance(body, dict):
            yield path.stem.rsplit("__", 1)[1], body


def without_additions(value):
    if isinstance(value, dict):
        return {name: without_additions(item) for name, item in value.items() if name not in ADDITIONS}
    if isinstance(value, list):
        return [without_additions(item) for item in value if not is_thought(item)]
    return value


def is_thought(item):
    """A part in which Mistral's models think."""
    return isinstance(item, dict) and item.get("type") == "thinking"


def problem(kind, value, at="the body"):
    """What keeps `value` from being a `kind`, or None. pydantic reads the lists of these types too late to tell."""
    origin, options = typing.get_origin(kind), typing.get_args(kind)
    if typing_extensions.is_typeddict(kind):
        return object_problem(kind, value, at)
    if origin in (typing_extensions.Required, typing_extensions.NotRequired, typing.Annotated):
        return problem(options[0], value, at)
    if origin in (typing.Union, types_of_python.UnionType):
        problems = [problem(option, value, at) for option in options]
        return None if None in problems else max((p for p in problems), key=len)
    if origin in (typing.Literal, typing_extensions.Literal):
        return None if value in options else f"{at}: {value!r} is none of {options}"
    if origin in (list, collections.abc.Iterable, collections.abc.Sequence):
        if not isinstance(value, list):
            return f"{at} is no list"
        found = (problem(options[0], item, f"{at}[{number}]") for number, item in enumerate(value))
        return next((one for one in found if one), None)
    if kind in (object, typing.Any):
        return None
    wanted = {float: (int, float), None: type(None)}.get(kind, origin or kind)
    return None if isinstance(value, wanted) else f"{at}: {value!r} is no {wanted}"


def object_problem(kind, value, at):
    if not isinstance(value, dict):
        return f"{at} is no object"
    fields = typing_extensions.get_type_hints(kind, include_extras=True)
    for name in value:
        if name not in fields:
            return f"{at}.{name} is not known"
        found = problem(fields[name], value[name], f"{at}.{name}")
        if found:
            return found
    missing = [name for name in kind.__required_keys__ if name not in value]
    return f"{at} lacks {missing}" if missing else None


def fits(kind, name, body):
    found = problem(kind, body)
    assert found is None, f"{name}: {found}"


@check
def bosun_anthropic_requests(_port):
    """What is asked of thoughts from 5.1 on is a beta of the vendor's, for which a header is sent."""
    betas = []
    for name, body in bodies("anthropic"):
        is_beta = "block_binding" in body.get("thinking", {})
        betas += [name] if is_beta else []
        fits(BetaParamsStreaming if is_beta else MessageCreateParamsStreaming, name, body)
    equal(betas, ["to_who_checks_what_stands_before_its_thoughts"])


@check
def bosun_cloud_requests(_port):
    """What clouds want beside the vendor's own fields is what the vendor's clients for them send."""
    for cloud, version in (("bedrock", "bedrock-2023-05-31"), ("vertex", "vertex-2023-10-16")):
        for name, body in bodies(cloud, "snapshots/*__{}__tests__*.snap"):
            equal(body.pop("anthropic_version"), version)
            assert "model" not in body, f"{name}: the model stands in the address"
            equal(body.get("stream"), None if cloud == "bedrock" else True)
            fits(MessageCreateParamsStreaming, name, {**body, "model": "m", "stream": True})


@check
def bosun_openai_chat_requests(_port):
    for name, body in bodies("openai_chat"):
        fits(CompletionCreateParamsStreaming, name, without_additions(body))


@check
def bosun_openai_responses_requests(_port):
    for name, body in bodies("openai_responses"):
        fits(ResponseCreateParamsStreaming, name, body)


def modelled(kind, name, body):
    """For types that are pydantic models: nothing may be lost on the way through one."""
    again = kind.model_validate(body).model_dump(mode="json", by_alias=True, exclude_unset=True)
    equal(again, body)


@check
def bosun_gemini_requests(_port):
    for name, body in bodies("gemini"):
        for content in body["contents"] + [body[key] for key in ("systemInstruction",) if key in body]:
            for part in content["parts"]:
                # A mark that the vendor documents, though it is no base64.
                part.pop("thoughtSignature", None)
            modelled(types.Content, name, content)
        for key, kind in (("generationConfig", types.GenerationConfig), ("toolConfig", types.ToolConfig)):
            if key in body:
                modelled(kind, name, body[key])
        for tool in body.get("tools", []):
            modelled(types.Tool, name, tool)


@check
def bosun_ollama_requests(_port):
    for name, body in bodies("ollama"):
        modelled(ChatRequest, name, body)
