#!/usr/bin/env python3
"""Holds the doctor's verdicts against what the trainings of the grid came to."""

from collections import Counter
from pathlib import Path

import grid

HERE = Path(__file__).resolve().parent


def records(name):
    return {record["name"]: record for record in grid.read_records(HERE / name)}


def table(rows):
    """Verdicts by outcomes, as Markdown."""
    counts = Counter(rows)
    verdicts = ("stable", "fragile", "will diverge")
    lines = ["| outcome | " + " | ".join(verdicts) + " |", "|---|" + "---|" * len(verdicts)]
    for outcome in grid.OUTCOMES:
        lines.append(f"| {outcome} | " + " | ".join(str(counts[outcome, v]) for v in verdicts) + " |")
    return "\n".join(lines)


def report(title, names, outcomes, examinations):
    rows = []
    for name in names:
        entropy = examinations[name]["unigram_entropy"]
        rows.append((grid.outcome(outcomes[name], entropy), examinations[name]["verdict"]))
    right = sum((outcome == "diverged") == (verdict == "will diverge") for outcome, verdict in rows)
    missed = sum(row == ("diverged", "stable") for row in rows)
    print(f"## {title}: {len(rows)} trainings\n\n{table(rows)}\n")
    print(f"Divergence foretold rightly: {right} of {len(rows)} ({right / len(rows):.1%}); "
          f"called stable and diverged: {missed}.\n")


def main():
    outcomes, examinations = records("outcomes.jsonl"), records("examinations.jsonl")
    names = sorted(set(outcomes) & set(examinations))
    half = grid.calibration_half(grid.recipes())
    report("Calibration half", [n for n in names if n in half], outcomes, examinations)
    report("Held-out half", [n for n in names if n not in half], outcomes, examinations)


if __name__ == "__main__":
    main()
