#!/usr/bin/env python3
"""Trains every recipe of the grid and writes what it came to, one JSON object a line.

A recipe that is in OUT already is not trained again. Nothing of the doctor is used here.
"""

import argparse
import json
import shutil
import subprocess
import sys
import time
from pathlib import Path

import grid

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--train", type=Path, nargs=2, required=True, help="text, source and target")
    parser.add_argument("--ballast", default=ROOT / "build/release/ballast", help="the program")
    parser.add_argument("--work", type=Path, default=ROOT / "runs/prediction", help="where runs lie")
    parser.add_argument("--share", type=int, nargs=2, default=(0, 1), metavar=("I", "N"),
                        help="every Nth recipe from the Ith, so that N processes share the work")
    parser.add_argument("--out", type=Path, default=HERE / "outcomes.jsonl")
    return parser.parse_args()


def overrides(settings, texts):
    settings = settings | {"data.train": json.dumps([str(t.resolve()) for t in texts])}
    return [part for name, value in settings.items() for part in ("--set", f"{name}={value}")]


def main():
    options = arguments()
    options.work.mkdir(parents=True, exist_ok=True)
    done = {r["name"] for r in grid.read_records(options.out)} if options.out.exists() else set()
    first, stride = options.share
    for name, settings in list(grid.recipes().items())[first::stride]:
        if name in done:
            continue
        run = options.work / name
        shutil.rmtree(run, ignore_errors=True)
        command = [str(options.ballast), "train", str(HERE / "prediction.toml"), "--run", str(run),
                   "--threads", "1", *overrides(settings, options.train)]
        begun = time.time()
        with open(f"{run}.log", "w") as log:
            status = subprocess.run(command, stdout=log, stderr=subprocess.STDOUT).returncode
        if status not in (0, 4):
            sys.exit(f"{run} ended with exit code {status}, see {run}.log")
        records = grid.read_records(run / "log.jsonl")
        losses = [r["nll"] for r in records if "nll" in r]
        entry = {"name": name, "settings": settings, "status": status, "updates": len(losses),
                 "losses": grid.means(losses)}
        with options.out.open("a") as out:
            out.write(json.dumps(entry) + "\n")
        print(f"{name} {time.time() - begun:.0f} s, exit code {status}, last loss {losses[-1]}", flush=True)
        shutil.rmtree(run)


if __name__ == "__main__":
    main()
