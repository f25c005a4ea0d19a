#!/usr/bin/env python3
"""Asks the doctor about every recipe of the grid, and writes what it measured, one JSON object a line.

A recipe that is in OUT already is not examined again. Nothing of the trainings is used here.
"""

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path

import grid
from train_grid import overrides

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--train", type=Path, nargs=2, required=True, help="text, source and target")
    parser.add_argument("--ballast", default=ROOT / "build/release/ballast", help="the program")
    parser.add_argument("--share", type=int, nargs=2, default=(0, 1), metavar=("I", "N"),
                        help="every Nth recipe from the Ith, so that N processes share the work")
    parser.add_argument("--out", type=Path, default=HERE / "examinations.jsonl")
    return parser.parse_args()


def summary(told):
    """What `predict.py` reads, and what a threshold may be chosen by; all measurements are much longer."""
    rehearsal = told["rehearsal"]
    return {"verdict": told["verdict"],
            "findings": [[each["name"], each["severity"]] for each in told["findings"]],
            "unigram_entropy": told["text"]["unigram_entropy"],
            "peak_lr": told["training"]["peak_lr"],
            "largest_stable_lr": told["largest_stable_lr"],
            "rehearsal": [round(x, 4) if x is not None else None for x in rehearsal["losses"]],
            "gauges": rehearsal["history"][-1]["gauges"]}


def main():
    options = arguments()
    done = {r["name"] for r in grid.read_records(options.out)} if options.out.exists() else set()
    first, stride = options.share
    for name, settings in list(grid.recipes().items())[first::stride]:
        if name in done:
            continue
        command = [str(options.ballast), "doctor", str(HERE / "prediction.toml"), "--threads", "1",
                   "--rehearse", "--json", *overrides(settings, options.train)]
        begun = time.time()
        told = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if told.returncode not in (0, 5):
            sys.exit(f"{name} ended with exit code {told.returncode}: {told.stderr}")
        examination = summary(json.loads(told.stdout))
        with options.out.open("a") as out:
            out.write(json.dumps({"name": name, **examination}) + "\n")
        print(f"{name} {time.time() - begun:.0f} s, {examination['verdict']}", flush=True)


if __name__ == "__main__":
    main()
