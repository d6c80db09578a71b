#!/usr/bin/env python3
"""Counts by class and causes of HBase's suite.

Usage: report.py [--markdown] RESULTS_DIRECTORY ...    (of a class in several directories the last one counts)
Exit code 1: a test did not pass, and is not "not applicable".
"""
import collections
import pathlib
import re
import sys

from rules import FAIL, NA, RULES

COLUMNS = ("PASS", FAIL, NA, "IGNORED")


def judged(status, name, text):
    """Verdict and reason of one line of a result."""
    if status in ("PASS", "IGNORED"):
        return status, ""
    for name_pattern, text_pattern, verdict, reason in RULES:
        found = re.search(text_pattern, text) if text_pattern else True
        if found and re.search(name_pattern, name):
            return verdict, reason.format(**found.groupdict()) if text_pattern else reason
    return (NA, "assumption of the test") if status == "NA" else (FAIL, "not explained: " + text[:110])


def classes(directories):
    """Class name -> its lines, each [status, class, test, milliseconds, text]."""
    found = {}
    for directory in directories:
        for path in pathlib.Path(directory).glob("*.tsv"):
            lines = [line.split("\t") for line in path.read_text(errors="replace").splitlines()]
            found[path.stem] = [line for line in lines if line[0] != "END" and not line[0].startswith("ALSO-")]
    return dict(sorted(found.items()))


class Summary:
    def __init__(self, results):
        self.counts = {}
        self.reasons = {FAIL: collections.defaultdict(list), NA: collections.defaultdict(list)}
        for class_name, lines in results.items():
            self.counts[class_name] = collections.Counter()
            for line in lines:
                test = re.sub(r"\[.*", "", line[2])
                verdict, reason = judged(line[0], f"{class_name}.{test}", line[4] if len(line) > 4 else "")
                self.counts[class_name][verdict] += 1
                if verdict in self.reasons:
                    self.reasons[verdict][reason].append(f"{class_name}.{test}")
        self.total = sum(self.counts.values(), collections.Counter())

    def causes(self, verdict):
        """(reason, count, tests with how often each), the most frequent reason first."""
        for reason, tests in sorted(self.reasons[verdict].items(), key=lambda item: (-len(item[1]), item[0])):
            shown = [test + (f" ({n})" if n > 1 else "") for test, n in collections.Counter(tests).items()]
            yield reason, len(tests), shown


def print_text(summary):
    print("%-52s" % "class" + "".join("%9s" % column for column in COLUMNS))
    for class_name, counts in [*summary.counts.items(), ("TOTAL", summary.total)]:
        print("%-52s" % class_name + "".join("%9d" % counts[column] for column in COLUMNS))
    for verdict in (FAIL, NA):
        print(f"\n-- {verdict}, by cause")
        for reason, count, tests in summary.causes(verdict):
            print("%5d  %s" % (count, reason))
            print("         " + ", ".join(tests[:6]) + (" ..." if len(tests) > 6 else ""))


def print_markdown(summary):
    print("| class | passed | failed | not applicable | ignored by HBase |\n|---|---|---|---|---|")
    for class_name, counts in [*summary.counts.items(), ("all", summary.total)]:
        print(f"| {class_name} | " + " | ".join(str(counts[column]) for column in COLUMNS) + " |")
    for verdict, title in ((FAIL, "Failed, by cause"), (NA, "Not applicable, by cause")):
        print(f"\n## {title}\n\n| cause | tests | which |\n|---|---|---|")
        for reason, count, tests in summary.causes(verdict):
            print(f"| {reason} | {count} | {', '.join(tests)} |")


def main():
    arguments = sys.argv[1:]
    markdown = "--markdown" in arguments
    summary = Summary(classes([each for each in arguments if each != "--markdown"]))
    (print_markdown if markdown else print_text)(summary)
    if not summary.total["PASS"]:
        sys.exit("report: no test passed")
    sys.exit(1 if summary.total[FAIL] else 0)


main()
