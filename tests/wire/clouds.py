"""Claude at Amazon Bedrock and on Vertex AI, with the vendor's own clients for them, and Bosun's signature with AWS's."""

import json
from pathlib import Path

import anthropic
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from anthropic_messages import a_ask, a_final
from script import CALLS, KEY, MODEL, TEXT, check, equal, raises

ACCESS, SECRET, SESSION = (
    "AKIDCANARY0123456789", "canary/secret+0123456789/abcdefghijklmnop", "canary-session-0123456789")
SNAPSHOTS = Path(__file__).parents[2] / "crates/providers/src"


def bedrock(port, secret=SECRET, session=None):
    return anthropic.AnthropicBedrock(
        aws_access_key=ACCESS, aws_secret_key=secret, aws_session_token=session, aws_region="eu-west-1",
        base_url=f"http://127.0.0.1:{port}", max_retries=0)


def vertex(port, token=KEY):
    return anthropic.AnthropicVertex(
        region="us-east5", project_id="p", access_token=token, base_url=f"http://127.0.0.1:{port}/v1", max_retries=0)


def whole(client):
    """Text, thinking and calls of a stream."""
    equal(a_final(client, "plain").content[0].text, TEXT)
    equal([block.type for block in a_final(client, "think").content], ["thinking", "text"])
    calls = a_final(client, "calls").content[1:]
    equal([(call.name, call.input) for call in calls],
          [(call["call"]["name"], call["call"]["args"]) for call in CALLS])
    equal(client.messages.create(**a_ask("calls")).content[0].text, "Looking.")


@check
def bedrock_streams_to_a_signature(port):
    whole(bedrock(port))
    # The name of a profile has colons, which are escaped once more where they are signed.
    name = {**a_ask("plain"), "model": "eu.anthropic.claude-haiku-4-5-20251001-v1:0"}
    equal(bedrock(port, session=SESSION).messages.create(**name).model, name["model"])


@check
def bedrock_refuses_another_signature(port):
    refused = raises(anthropic.PermissionDeniedError, lambda: a_final(bedrock(port, secret="another"), "plain"))
    assert "signature" in str(refused), refused


@check
def bedrock_failures_in_the_middle(port):
    raises(Exception, lambda: a_final(bedrock(port), "spoiled"))
    raises(Exception, lambda: a_final(bedrock(port), "cut"))


@check
def vertex_streams(port):
    whole(vertex(port))
    raises(anthropic.AuthenticationError, lambda: a_final(vertex(port, token="ya29.wrong"), "plain"))
    equal(a_final(vertex(port), "plain").model, MODEL)


@check
def bosun_signs_as_aws_does(_port):
    [path] = SNAPSHOTS.glob("**/snapshots/*signer*a_signed_request.snap")
    golden = json.loads(path.read_text(encoding="utf-8").split("\n---\n", 1)[1])
    signed = {name.lower(): value for name, value in golden["signed"].items()}
    request = AWSRequest(method=golden["method"], url=golden["url"], data=golden["body"].encode())
    request.headers["Content-Type"] = golden["content_type"]
    request.headers["X-Amz-Date"] = signed["x-amz-date"]
    request.headers["X-Amz-Security-Token"] = SESSION
    request.context["timestamp"] = signed["x-amz-date"]
    signer = SigV4Auth(Credentials(ACCESS, SECRET, SESSION), "bedrock", golden["region"])
    text = signer.string_to_sign(request, signer.canonical_request(request))
    equal(signed["authorization"].rsplit("Signature=", 1)[1], signer.signature(text, request))
