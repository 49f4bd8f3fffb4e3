"""What the checks share: the script that the server plays, and how a check is written."""

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
