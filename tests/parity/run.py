#!/usr/bin/env python3
"""Plays the same tool calls into the reference and into `bosun tools`, and tells what is the same.

    python3 tests/parity/run.py            checks that docs/parity.md is what comes out
    python3 tests/parity/run.py --write    writes it
    python3 tests/parity/run.py WORD…      plays only the cases that have such a word in their names

The reference (deepagents 0.7.32 from PyPI) goes into a virtual environment below `target/`, made when it is not there.
`bosun` is `target/debug/bosun`, or what `BOSUN` names. The exit code is 0 when no row differs by accident.
"""

import ast
import base64
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True

import agent  # noqa: E402
from cases import CASES, ELSEWHERE, LINES, NOTES  # noqa: E402

REQUIREMENTS = Path(__file__).resolve().parent / "requirements.txt"
VERSION = re.search(r"^deepagents==(\S+)$", REQUIREMENTS.read_text(), re.M).group(1)
HERE = Path(__file__).resolve().parent
TOP = HERE.parents[1]
VENV = Path(os.environ.get("BOSUN_PARITY_VENV", TOP / "target" / "parity" / "venv"))
DOCUMENT = TOP / "docs" / "parity.md"
COLUMNS = ("state", "filesystem", "store", "composite", "sandbox", "shell", "agent")


def bosun():
    return os.environ.get("BOSUN", str(TOP / "target" / "debug" / "bosun"))


def venv():
    python = VENV / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(VENV)], check=True)
    probe = f"import importlib.metadata as m; assert m.version('deepagents') == '{VERSION}'"
    if subprocess.run([str(python), "-c", probe], capture_output=True).returncode:
        subprocess.run([str(python), "-m", "pip", "install", "-q", "-r", str(REQUIREMENTS)], check=True)
    return python


def play_reference(python, asked):
    lines = "".join(json.dumps(one) + "\n" for one in asked)
    environment = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    environment["LANGSMITH_TRACING"] = "false"
    done = subprocess.run([str(python), str(HERE / "reference.py")], input=lines, capture_output=True, text=True,
                          env=environment)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    if len(answers) != len(asked):
        sys.exit(f"the reference gave {len(answers)} answers to {len(asked)} cases:\n{done.stderr[-2000:]}")
    return answers


def play_bosun(kind, calls, disk, links, ids, together):
    with tempfile.TemporaryDirectory() as root, tempfile.TemporaryDirectory() as data:
        for name, content in disk.items():
            path = Path(root, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        for name, target in links.items():
            Path(root, name).symlink_to(target)
        if kind == "agent":
            return agent.play(bosun(), root, data, calls, ids, together)
        routes = ["--backend", "filesystem", "--route", "/memories=state"] if kind == "composite" else ["--backend", kind]
        lines = "".join(json.dumps({"tool": tool, "args": args}) + "\n" for tool, args in calls)
        environment = {"PATH": os.environ["PATH"], "HOME": data, "BOSUN_DATA_DIR": data}
        done = subprocess.run([bosun(), "tools", "--project", root, *routes], input=lines, capture_output=True,
                              text=True, env=environment)
        if done.returncode:
            sys.exit(f"bosun ended with {done.returncode}: {done.stderr}")
        return json.loads(done.stdout.splitlines()[-1])


# What an answer says, without how it is laid out.


def rows(tool, text):
    """What a listing or a search shows, and whether it says that there is more. A listing is a Python list there and lines
    here; notes stand behind a blank line or in a row of their own."""
    if text.startswith("['"):
        shown = ast.literal_eval(text.split("\n\n")[0])
    else:
        shown = text.split("\n\n")[0].splitlines()
    starts = ("/",) if tool in ("ls", "glob") else ("/", "  ")
    found = [row for row in shown if row.startswith(starts)]
    cut = bool(found) and (len(found) < len(shown) or "\n\n" in text)
    # A state tells what it has in the order of its changes.
    return (found if cut or tool == "grep" else sorted(found), cut)


def alike(there, here):
    """Whether both show the same rows: where both say that there is more, as far as both go, which is half of it at least.
    The last row can be cut in its middle."""
    (there, there_cut), (here, here_cut) = there, here
    if there_cut and here_cut:
        least = min(len(there), len(here)) - 1
        return there[:least] == here[:least] and least * 2 >= max(len(there), len(here)) - 2
    return there_cut == here_cut and there == here


def lines(text):
    """The lines of a page, verbatim behind a header there and numbered here, and where the next one begins. Notes in
    brackets are layout."""
    following = re.search(r"next offset (?:is )?(\d+)", text)
    if text.startswith("@@") or "\n@@" in text[:200]:
        shown = text[text.index("@@"):].split("\n")[1:]
    else:
        shown = []
        for row in text.split("\n"):
            numbered = re.match(r"^ *\d+(?:\.\d+)?\t(.*)$", row, re.S)
            if numbered:
                shown.append(numbered.group(1))
            elif shown and not row.startswith("["):
                shown.append(row)
    return shown, following and following.group(1)


def kinds(content):
    """Blocks of media by what they are."""
    media = []
    for block in content:
        kind = block.get("mime_type") or block.get("mime") or block.get("media_type") or block.get("type")
        if kind != "text":
            media.append(kind)
    return media


def blocks(content):
    """What its framework does not know as blocks the reference gives as JSON."""
    return json.loads(content) if isinstance(content, str) and content.startswith('[{"type":') else content


def said(tool, answer, tokens, without):
    """What is compared of an answer, and the rows that it shows."""
    content, status = blocks(answer["content"]), answer["status"]
    if isinstance(content, list):
        return (status, kinds(content)), None
    shown = rows(tool, content) if status == "success" and tool in ("ls", "glob", "grep") else None
    if tokens:
        held = [token.lower() in content.lower() for token in tokens]
        return (status, held, [token.lower() not in content.lower() for token in without]), shown
    if status != "success":
        return (status, "an error"), None
    if shown is not None:
        return (status,), shown
    if tool == "read_file":
        return (status, lines(content)), None
    return (status, content.strip()), None


def verdict(case, kind, reference, own):
    tool = case.calls[-1][0]
    (there, shown_there), (here, shown_here) = (
        said(tool, answer, case.tokens, case.without) for answer in (reference, own)
    )
    same = there == here and (not case.tokens or len(there) == 2 or all(there[1]))
    if same and shown_there is not None:
        same = alike(shown_there, shown_here)
    purpose, meant = case.purpose_of(kind)
    if same:
        return "same" if not purpose else "differs (the purpose is stale: both say the same)"
    if not purpose:
        return "differs"
    wrong = own_faults(case, meant, own)
    return f"differs ({', '.join(wrong)})" if wrong else f"on purpose ({purpose.split(':')[0]})"


def own_faults(case, meant, own):
    """What is wrong with an answer that differs on purpose: it has to be the one that is meant."""
    content = own["content"] if isinstance(own["content"], str) else json.dumps(own["content"], ensure_ascii=False)
    status = "error" if any(token.startswith("Error") for token in meant) else "success"
    wrong = [] if own["status"] == status else [f"the status is {own['status']}"]
    wrong += [f"Bosun does not say {token!r}" for token in meant if token.lower() not in content.lower()]
    return wrong + [f"Bosun says {token!r}" for token in case.own_without if token.lower() in content.lower()]


def table(results):
    head = ["Case", "Lines", *COLUMNS, "On purpose"]
    shown = [" | ".join(head), " | ".join(["---"] * len(head))]
    for case in CASES:
        cells = [results.get((case.name, kind), "–") for kind in COLUMNS]
        purposes = dict.fromkeys([case.purpose, *(purpose for purpose, _ in case.purpose_on.values())])
        shown.append(" | ".join([case.name, case.lines, *cells, "; ".join(filter(None, purposes))]))
    return "\n".join(f"| {row} |".replace("|  |", "| |").replace("|  |", "| |") for row in shown)


def elsewhere():
    """The lines that are about more than one call, with tests that there are."""
    sources = "\n".join(path.read_text() for path in (TOP / "crates").rglob("*.rs"))
    shown = ["| Lines | Bosun | Choice | Held by |", "| --- | --- | --- | --- |"]
    for lines, told, choice, test in ELSEWHERE:
        if test and f"fn {test}(" not in sources:
            sys.exit(f"FAIL  {lines}: there is no test {test}")
        shown.append(f"| {lines} | {told} | {choice or '–'} | {f'`{test}`' if test else '–'} |")
    return "\n".join(shown)


def missing_lines():
    """The lines of Part B section 11 that nothing here is about."""
    told = " ".join([case.lines for case in CASES] + [lines for lines, *_ in ELSEWHERE]).split()
    return [line for line in LINES.split() if line not in told]


def document(results):
    counts = {word: sum(cell.startswith(word) for cell in results.values()) for word in ("same", "on purpose", "differs")}
    notes = "\n".join(f"- {number}: {note}" for number, note in NOTES.items())
    return f"""# Compared with the reference

Made by `tests/parity/run.py`, which plays the same tool calls into `deepagents` {VERSION} (by way of an agent with a
scripted model) and into `bosun tools`, and compares what they answer: status, paths, lines, counts, and of errors and
notices the tokens of behaviour.md, Part B 3.9. How an answer is laid out is not compared (behaviour.md A2 and A23 say how
ours is). `composite` is a disk with a state mounted at `/memories/`; `sandbox` is the reference's base of its sandboxes
over processes of this machine, and Bosun's local sandbox; `agent` is a whole agent over a disk with a shell, of which the
text is compared that its model is sent next.

{counts["same"]} same, {counts["on purpose"]} on purpose, {counts["differs"]} differ. Lines are those of Part B section 11. A, P and O with a
number name the choice: Part A of the behaviour document, groups P and O of the security document. N are the choices that
have no number there:

{notes}

{table(results)}

## Lines that are about more than one call

These are not played into the reference; tests hold Bosun to what stands here.

{elsewhere()}
"""


def main():
    words = [word for word in sys.argv[1:] if not word.startswith("--")]
    if missing_lines():
        sys.exit(f"FAIL  nothing is about {', '.join(missing_lines())}")
    cases = [case for case in CASES if not words or any(word in case.name for word in words)]
    asked = [(case, kind) for case in cases for kind in case.backends]
    encoded = [
        {
            "backend": kind,
            "calls": case.calls,
            "links": case.links,
            "together": case.together,
            "ids": case.ids,
            "disk": {name: base64.b64encode(content).decode() for name, content in case.disk.items()},
        }
        for case, kind in asked
    ]
    references = play_reference(venv(), encoded)
    results = {}
    for (case, kind), reference in zip(asked, references):
        own = play_bosun(kind, case.calls, case.disk, case.links, case.ids, case.together)
        results[case.name, kind] = found = verdict(case, kind, reference, own)
        differs = found.startswith("differs")
        print(f"{'FAIL' if differs else 'ok'}  {case.name} ({kind}): {found}", flush=True)
        if differs or "--verbose" in sys.argv:
            print(f"  reference: {reference}\n  bosun:     {own['status']} {own['content']!r}")
    differs = [found for found in results.values() if found.startswith("differs")]
    if words:
        sys.exit(1 if differs else 0)
    text = document(results)
    if "--write" in sys.argv:
        DOCUMENT.write_text(text)
    elif DOCUMENT.read_text() != text:
        sys.exit("FAIL  docs/parity.md is not what this run writes; run tests/parity/run.py --write")
    print(f"{len(results)} compared, {len(differs)} differ")
    sys.exit(1 if differs else 0)


main()
