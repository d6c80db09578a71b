"""A client of a load as ratchet-chaos starts it (chaos/workloads/foreign_line.h), with registers in its own memory.

Usage: foreign_child.py BEHAVIOUR FILE. Each behaviour but "honest" is one that the driver must notice. FILE gets the
registers at the end, one a line: ROW QUALIFIER VALUE.
"""

import json
import sys
import threading
import time

BEHAVIOUR = sys.argv[1]
AFTER = 40  # requests before it misbehaves


def say(line):
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def execute(values, kind, key, value, expected):
    """Returns the fields of an answer."""
    old = values.get(key)
    if kind == "get":
        return {"observed": old}
    if kind == "put":
        values[key] = value
    elif kind == "delete":
        values.pop(key, None)
    elif kind == "append":
        values[key] = (old or "") + value
        return {"observed": values[key]}
    elif kind == "increment":
        values[key] = str(int(old or "0") + int(value))
        return {"observed": values[key]}
    else:
        applied = (old or "") == expected
        if applied and kind == "check-and-put":
            values[key] = value
        elif applied:
            values.pop(key, None)
        return {"applied": applied}
    return {}


def main():
    values = {}
    print("a line of its log", file=sys.stderr)
    if BEHAVIOUR == "no-greeting":
        return 7
    if BEHAVIOUR == "wrong-greeting":
        say("Hello")
    else:
        say(json.dumps({"ready": "a script"}))
    for number, line in enumerate(sys.stdin):
        name, client, row, qualifier, kind, value, expected = line.rstrip("\n").split("\t")
        key = f"{row}/{qualifier}"
        wrong = number >= AFTER
        answer = {"id": int(name), "client": int(client), "key": key, "op": kind, "attempts": 1, "outcome": "ok"}
        if kind not in ("get", "delete", "check-and-delete"):
            answer["value"] = value
        if kind.startswith("check-"):
            answer["expected"] = expected
        answer["invoke"] = time.monotonic_ns()
        if BEHAVIOUR == "loses-puts" and wrong and kind == "put":
            pass  # acknowledged, and not executed
        else:
            answer.update(execute(values, kind, key, value, expected))
        answer["return"] = time.monotonic_ns()
        if BEHAVIOUR == "own-clock":
            answer["invoke"], answer["return"] = 5, 6
        if BEHAVIOUR == "another-key" and wrong:
            answer["key"] = "elsewhere/s"
        if BEHAVIOUR == "ends" and wrong:
            return 9
        if BEHAVIOUR == "silent" and wrong:
            continue
        if BEHAVIOUR == "long-line" and wrong:
            say("x" * 3_000_000)
        say("not an answer" if BEHAVIOUR == "garbage" and wrong else json.dumps(answer))
    with open(sys.argv[2], "w") as file:
        for key, value in values.items():
            file.write("{}\t{}\t{}\n".format(*key.split("/"), value))
    if BEHAVIOUR == "stays":
        threading.Event().wait()
    return 0


sys.exit(main())
