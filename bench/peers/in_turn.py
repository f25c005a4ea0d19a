#!/usr/bin/env python3
"""Lets ours and peers do the same work in turn, each in a process of its own, and compares the times.

Usage: in_turn.py WORK MODEL SIDE...     training steps of `seq2seq-6-512`, ...
       in_turn.py WORK decode SIDE...    beam-4 translation of 500 sentences

A SIDE is `ours:float32`, `ours:bf16`, `ours:stock` (what bench/train_step knows; for decode `ours:ours`,
`ours:bf16`, `ours:stock`), or LABEL=[VARIABLE=VALUE ...] OPTIONS of torch_train_step.py or
ctranslate2_decode.py. Peers run in the Python that runs this. The first side is what the others are compared with.
One line a round goes to standard error, one JSON object to standard output: median seconds, the share
of the cores that others had meanwhile, loss and gradient norm before the first step, peak memory.
"""

import json
import os
import pathlib
import statistics
import subprocess
import sys
import time

here = pathlib.Path(__file__).resolve().parent
bench = pathlib.Path(os.environ.get("BENCH", here.parent.parent / "build/release/bench"))
rounds = int(os.environ.get("ROUNDS", "0"))
warm_up, sentences, threads, vocabulary = 2, 500, 2, 8000
# Freed memory stays in the process, as both sides of bench/train_step have it.
kept_memory = {"MALLOC_MMAP_THRESHOLD_": str(32 << 30), "MALLOC_TRIM_THRESHOLD_": str(32 << 30),
               "MALLOC_TOP_PAD_": str(256 << 20)}


def inherited():
    """The environment, less what an old OpenBLAS may have been told about this processor."""
    return {name: value for name, value in os.environ.items() if not name.startswith("OPENBLAS_")}


def ours(work, model, kind):
    program = "decode" if model == "decode" else "train_step"
    command = [bench / program, "--side", kind, "--encoded", f"{work}/{model}.tokens",
               "--vocabulary", str(vocabulary), "--threads", str(threads)]
    if model != "decode":
        command += ["--model", model, "--steps", str(max(10, rounds + warm_up))]
    environment = inherited()
    if kind == "stock":
        command.append("--all-blas-threads")
        environment["OMP_WAIT_POLICY"] = "passive"
    return command, environment


def peer(work, model, options):
    words, environment = options.split(), inherited()
    if model != "decode":
        environment |= kept_memory | {"OMP_NUM_THREADS": str(threads)}
    while words and "=" in words[0] and not words[0].startswith("-"):
        name, value = words.pop(0).split("=", 1)
        environment[name] = value
    program = "ctranslate2_decode.py" if model == "decode" else "torch_train_step.py"
    what = [work] if model == "decode" else [work, model]
    return [sys.executable, here / program, *what, *words], environment


class Side:
    def __init__(self, work, model, text):
        self.peer = not text.startswith("ours:")
        if self.peer:
            self.label, options = text.split("=", 1)
            command, environment = peer(work, model, options)
        else:
            self.label = text
            command, environment = ours(work, model, text.removeprefix("ours:"))
        self.compiled = self.peer and "--compile" in text
        self.times, self.parts, self.foreign, self.output = [], [], [], None
        self.process = subprocess.Popen(command, env=environment, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True, bufsize=1)

    def ask(self, question):
        self.process.stdin.write(json.dumps(question) + "\n")
        answer = self.process.stdout.readline()
        if not answer:
            sys.exit(f"{self.label} ended before it answered {question!r}")
        return json.loads(answer)

    def cpu_seconds(self):
        fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def peak_bytes(self):
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text().splitlines()
        return int(next(line for line in status if line.startswith("VmHWM")).split()[1]) * 1024

    def warm(self, model):
        if model == "decode":
            self.ask(sentences)
            return {}
        found = self.ask("gradient")
        # A compiled model meets every batch before the clock, since each may bring a new shape.
        for number in range(rounds + warm_up if self.compiled else warm_up):
            self.ask(number)
        return {"loss": found[0], "gradient_norm": found[1]}

    def measure(self, model, number):
        time.sleep(0.3)  # threads that spin for a while after their work have stopped
        busy, own, begin = busy_seconds(), self.cpu_seconds(), time.perf_counter()
        answer = self.ask(sentences if model == "decode" else number + warm_up)
        passed = time.perf_counter() - begin
        others = (busy_seconds() - busy) - (self.cpu_seconds() - own)
        self.foreign.append(round(others / passed / os.cpu_count(), 2))
        if model == "decode":
            seconds, self.output = answer[:2]
            self.times.append(seconds)
        else:
            self.parts.append(answer)
            self.times.append(sum(answer))

    def summary(self):
        found = {"seconds": round(statistics.median(self.times), 4),
                 "peak_gb": round(self.peak_bytes() / 1e9, 3),
                 "foreign_share": max(self.foreign),
                 "all": [round(each, 3) for each in self.times]}
        if self.parts:
            found["forward_backward_update"] = [
                round(statistics.median(each), 4) for each in zip(*self.parts)]
        return found

    def end(self):
        self.process.stdin.close()
        self.process.wait()


def busy_seconds():
    """Of all cores since the machine started, by anyone."""
    values = [int(word) for word in pathlib.Path("/proc/stat").read_text().split("\n")[0].split()[1:9]]
    idle, waiting = values[3:5]
    return (sum(values) - idle - waiting) / os.sysconf("SC_CLK_TCK")


def share_of_equal(one, other):
    """Of outputs that agree as far as the shorter goes: peers may add the end, or cut."""
    return sum(a[:len(b)] == b[:len(a)] for a, b in zip(one, other)) / len(one)


def main():
    global rounds
    work, model, texts = sys.argv[1], sys.argv[2], sys.argv[3:]
    rounds = rounds or (3 if model == "decode" else 10)
    sides = [Side(work, model, text) for text in texts]
    facts = {side.label: side.warm(model) for side in sides}
    for number in range(rounds):
        for side in sides:
            side.measure(model, number)
        print(number, {side.label: round(side.times[-1], 3) for side in sides}, file=sys.stderr)
    first = sides[0]
    for side in sides:
        facts[side.label] |= side.summary()
        facts[side.label]["seconds_over_first"] = round(
            statistics.median(side.times) / statistics.median(first.times), 3)
        if model == "decode":
            facts[side.label]["same_as_first"] = share_of_equal(first.output, side.output)
            facts[side.label]["output_tokens"] = sum(map(len, side.output))
        if side.peer:
            facts[side.label] |= side.ask("facts")
        side.end()
    print(json.dumps({"model": model, "sides": facts}, indent=2))


if len(sys.argv) < 4:
    sys.exit(__doc__)
main()
