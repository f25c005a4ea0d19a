#!/usr/bin/env python3
"""Runs `ballast score` on cases of the form that score_oracle.py describes and compares all it prints.

Usage: score_replay.py BALLAST CASES.json [SHARED_DATA]

A case whose files lie in the shared data, or whose dictionary is not installed, is left out and said
so. Needs nothing but Python.
"""
import gzip
import json
import os
import pathlib
import subprocess
import sys
import tempfile

tolerance = 1e-9


def write_texts(case, folder):
    """The paths of the systems' files and of the references' files."""
    paths = {"systems": [], "references": []}
    for kind, found in paths.items():
        for number, lines in enumerate(case[kind]):
            path = pathlib.Path(folder) / f"{kind}{number}"
            path.write_bytes("".join(line + "\n" for line in lines).encode())
            found.append(str(path))
    return paths["systems"], paths["references"]


def options_of(case):
    """The flags, with the models and dictionaries where the environment says they are."""
    names = {"@SPM@": "BALLAST_TEST_SPM", "@KO@": "BALLAST_TEST_MECAB_KO_DIC",
             "@JA@": "BALLAST_TEST_IPADIC"}
    options = []
    for option in case["options"]:
        for mark, variable in names.items():
            option = option.replace(mark, os.environ.get(variable, ""))
        options.append(option[:-1] if option.endswith("mecab:") else option)
    return options


def run_ballast(program, case):
    """(exit code, list of systems, each a dictionary of metrics, or of sentences), or the error."""
    with tempfile.TemporaryDirectory() as folder:
        systems, references = write_texts(case, folder)
        command = [program, "score", "--json", *systems]
        command += [word for path in references for word in ("--reference", path)]
        ran = subprocess.run(command + options_of(case), capture_output=True, check=False)
    if ran.returncode != 0:
        return ran.returncode, ran.stderr.decode()
    text = ran.stdout.decode()
    if "--sentence" in case["options"]:
        return 0, [{"sentence": json.loads(line)} for line in text.splitlines()]
    found = json.loads(text)
    return 0, found.get("systems", [found])


def differences(found, expected):
    """Texts, each about one value that differs. `expected` is score_oracle's."""
    if len(found) != len(expected):
        return [f"{len(found)} results, expected {len(expected)}"]
    texts = []
    for number, (ours, theirs) in enumerate(zip(found, expected)):
        for metric, values in theirs.items():
            for key, value in values.items():
                got = details(ours[metric]) if key == "details" else ours[metric].get(key)
                equal = got == value
                if isinstance(value, float) and isinstance(got, (int, float)):
                    equal = abs(got - value) <= tolerance
                if not equal:
                    texts.append(f"{number} {metric} {key}: {got!r}, expected {value!r}")
    return texts


def details(ours):
    """What sacreBLEU prints after the score of BLEU."""
    precisions = "/".join(f"{p:.1f}" for p in ours["precisions"])
    ratio = ours["sys_len"] / ours["ref_len"] if ours["ref_len"] else 0
    return (f"{precisions} (BP = {ours['bp']:.3f} ratio = {ratio:.3f} "
            f"hyp_len = {ours['sys_len']} ref_len = {ours['ref_len']})")


def replay(program, case):
    code, found = run_ballast(program, case)
    if code != 0:
        return [f"ended with {code}: {found.strip()}"]
    return differences(found, case["expected"])


def with_shared_texts(case, shared):
    """Texts may be named as file and number of lines instead of being written out."""
    def lines(text):
        if isinstance(text, list):
            return text
        path = pathlib.Path(shared) / text["file"]
        with gzip.open(path, "rt", encoding="utf-8", newline="\n") as stream:
            return [line.rstrip() for line in stream][: text["lines"]]

    return {**case, "systems": [lines(t) for t in case["systems"]],
            "references": [lines(t) for t in case["references"]]}


def missing(case, shared):
    """Why a case cannot run here, or nothing."""
    words = " ".join(case["options"])
    if "@KO@" in words and not os.environ.get("BALLAST_TEST_MECAB_KO_DIC"):
        return "BALLAST_TEST_MECAB_KO_DIC does not name a folder with mecab-ko-dic"
    if "@SPM@" in words and not os.environ.get("BALLAST_TEST_SPM"):
        return "BALLAST_TEST_SPM does not name the model"
    files = [t["file"] for kind in ("systems", "references") for t in case[kind]
             if isinstance(t, dict)]
    if any(not (pathlib.Path(shared) / file).exists() for file in files):
        return "the shared data are not there"
    return None


def main():
    program, cases = sys.argv[1], json.load(open(sys.argv[2], encoding="utf-8"))["cases"]
    shared = sys.argv[3] if len(sys.argv) > 3 else "nowhere"
    wrong = skipped = 0
    for case in cases:
        reason = missing(case, shared)
        if reason:
            skipped += 1
            print(f"left out: {case['name']}: {reason}")
            continue
        for text in replay(program, with_shared_texts(case, shared)):
            wrong += 1
            print(f"{case['name']} {' '.join(case['options'])}: {text}")
    print(f"{len(cases) - skipped} cases compared, {wrong} values differ, {skipped} left out")
    sys.exit(1 if wrong or skipped == len(cases) else 0)


if __name__ == "__main__":
    main()
