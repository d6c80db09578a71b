#!/usr/bin/env python3
"""Writes the table of RPC methods in docs/rights.md from their declarations: what each method needs, and its class in the audit log.

Usage: scripts/cmake/rights_table.py [--check]
  --check   change nothing; exit code 1 if the table of the page differs from the declarations

The needs are in the `service` blocks of common/model/proto (scripts/cmake/rpc_methods.py), the classes in
common/audit/audit_policy.cc. The table is between the two comments `methods: begin` and `methods: end` of the page.
"""
import collections
import difflib
import pathlib
import re
import sys

import rpc_methods

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/rights.md"
POLICY = ROOT / "common/audit/audit_policy.cc"
PLACE = re.compile(r"(<!-- methods: begin\b[^\n]*-->\n).*?(<!-- methods: end -->)", re.S)


def names_in(policy, constant):
    """The names in one of the policy's lists."""
    found = re.search(r"constexpr std::array<std::string_view, (\d+)> " + constant + r"\{(.*?)\};", policy, re.S)
    names = re.findall(r'"(\w+)"', found[2]) if found else []
    if not found or len(names) != int(found[1]):
        sys.exit(f"rights_table.py: {POLICY.relative_to(ROOT)} has no list {constant} that this script can read")
    return set(names)


def audit_class(method, query, need, lists):
    if query or need == "member" or method in lists["kNotAudited"]:
        return "refusals"
    kinds = (("kRights", "rights"), ("kTokens", "token"), ("kSettings", "settings"))
    kind = next((word for constant, word in kinds if method in lists[constant]), "change")
    return kind + (", without room" if method in lists["kWithoutRoom"] else "")


def table():
    policy = POLICY.read_text()
    lists = {name: names_in(policy, name) for name in ("kNotAudited", "kRights", "kTokens", "kSettings", "kWithoutRoom")}
    rows, seen = collections.defaultdict(list), set()
    for proto in sorted((ROOT / "common/model/proto").glob("*.proto")):
        for service, block in rpc_methods.SERVICE.findall(proto.read_text()):
            for name, _, _, end, _, need in rpc_methods.METHOD.findall(block):
                seen.add(name)
                rows[service.split("_")[0], need, audit_class(name, end != ";", need, lists)].append(name)
    for constant, names in lists.items():
        if unknown := names - seen:
            sys.exit(f"rights_table.py: {constant} of {POLICY.relative_to(ROOT)} names methods that are not declared: {', '.join(sorted(unknown))}")
    lines = ["| service | need | audit | methods |", "|---|---|---|---|"]
    lines += [f"| {service} | `{need}` | {audit} | {', '.join(sorted(names))} |" for (service, need, audit), names in sorted(rows.items())]
    return "\n".join(lines) + "\n"


def main():
    if sys.argv[1:] not in ([], ["--check"]):
        print(__doc__.strip())
        sys.exit(0 if sys.argv[1:] in (["-h"], ["--help"]) else 2)
    page = PAGE.read_text()
    if len(PLACE.findall(page)) != 1:
        sys.exit(f"rights_table.py: {PAGE.relative_to(ROOT)} has not exactly one place for the table")
    wanted = PLACE.sub(lambda found: found[1] + table() + found[2], page)
    if wanted == page:
        return
    if sys.argv[1:] == ["--check"]:
        sys.stdout.writelines(difflib.unified_diff(page.splitlines(True), wanted.splitlines(True), "docs/rights.md", "the declarations"))
        sys.exit("rights_table.py: the table of docs/rights.md is out of date; run scripts/cmake/rights_table.py")
    PAGE.write_text(wanted)


if __name__ == "__main__":
    main()
