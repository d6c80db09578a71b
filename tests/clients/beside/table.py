"""Puts measurements beside each other. Usage: table.py FILE-OF-FIRST... -- FILE-OF-SECOND...   (lines: NAME VALUE UNIT higher|lower)

Prints the medians of both and their ratio, above 1 where the second is better.
"""

import statistics
import sys


def read(files):
    figures = {}
    for file in files:
        with open(file, encoding="utf-8") as lines:
            for line in lines:
                fields = line.split()
                if len(fields) == 4 and fields[3] in ("higher", "lower"):
                    figures.setdefault((fields[0], fields[2], fields[3]), []).append(float(fields[1]))
    return figures


def main(words):
    at = words.index("--")
    first, second = read(words[:at]), read(words[at + 1:])
    print("| measure | unit | HBase | Ratchet | ratio |\n|---|---|---|---|---|")
    for key in first:
        if key not in second:
            continue
        name, unit, better = key
        one, two = statistics.median(first[key]), statistics.median(second[key])
        print(f"| {name} | {unit} | {one:,.0f} | {two:,.0f} | {two / one if better == 'higher' else one / two:.2f} |")


if __name__ == "__main__":
    if "--" not in sys.argv:
        sys.exit(__doc__)
    main(sys.argv[1:])
