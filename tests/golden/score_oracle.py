"""What the real sacreBLEU says of a case.

A case is a dictionary: `name`; `systems` and `references`, lists of texts, each a list of lines;
`options`, flags of `ballast score`. The tool's own command line is run, in a child process, with its
printing replaced by one that loses no digit. Needs the tool, with numpy 2:

    python3 -m venv /tmp/sacrebleu
    /tmp/sacrebleu/bin/pip install 'sacrebleu[ja,ko]==2.6.0' sentencepiece 'numpy>=2'
"""
import json
import logging
import os
import re
import sys
import tempfile
import traceback

import sacrebleu.sacrebleu as tool
from sacrebleu.metrics import METRICS
from sacrebleu.metrics.bleu import BLEU

from score_replay import write_texts

# ballast's flag -> sacreBLEU's
same_flags = {
    "--tokenize": "-tok", "--smooth-method": "-s", "--smooth-value": "-sv", "--lowercase": "-lc",
    "--sentence": "-sl", "--confidence": "-ci", "--confidence-n": "-cin", "--paired-bs": "-pbs",
    "--paired-ar": "-par", "--paired-bs-n": "-pbsn", "--paired-ar-n": "-parn", "--metrics": "-m",
}


class Options:
    """Of a case, in sacreBLEU's words; its command line lacks two of its library's."""

    def __init__(self, options):
        self.words, self.library, self.seed = [], {}, None
        words = iter(options)
        for word in words:
            if word == "--max-ngram-order":
                self.library["max_ngram_order"] = int(next(words))
            elif word == "--use-effective-order":
                self.library["effective_order"] = True
            elif word == "--seed":
                self.seed = next(words)
            else:
                word = re.sub(r"^(ja-mecab|ko-mecab|flores\d+|spBLEU-1K):.*", r"\1", word)
                self.words.append(same_flags.get(word, word))


def with_library_options(library):
    class Changed(BLEU):
        def __init__(self, **arguments):
            super().__init__(**{**arguments, **library})

    return Changed


def numbers(score, signature):
    """The values of a Score or of a significance test's Result."""
    found = {"score": float(score.score), "signature": signature}
    ours = {"_mean": "mean", "_ci": "half_width", "mean": "mean", "ci": "half_width",
            "p_value": "p_value"}
    for name, key in ours.items():
        value = getattr(score, name, None)
        if value is not None and not (name in ("_mean", "_ci") and score._mean == -1.0):
            found[key] = float(value)
    if isinstance(score, sys.modules["sacrebleu.metrics.bleu"].BLEUScore):
        found["details"] = score._verbose
    return found


def key_of(name):
    return name.lower() if name in ("BLEU", "TER") else "chrf"


def in_child(case, write):
    """Runs the tool; its results go to the file object `write`."""
    options = Options(case["options"])
    if options.seed is not None:
        os.environ["SACREBLEU_SEED"] = options.seed
    results = []

    def formatted(score, width=2, score_only=False, signature="", is_json=False):
        results.append((key_of(score.name), numbers(score, signature)))
        return "{}"

    def table(scores, signatures, arguments):
        for i in range(len(scores["System"])):
            results.append({key_of(name): numbers(values[i], str(signatures[name]))
                            for name, values in scores.items() if name != "System"})

    sys.modules["sacrebleu.metrics.base"].Score.format = formatted
    tool.print_results_table = table
    tool.print_single_results = lambda *_: None
    METRICS["BLEU"] = with_library_options(options.library)
    paired = any(word in options.words for word in ("-pbs", "-par"))
    with tempfile.TemporaryDirectory() as folder:
        systems, references = write_texts(case, folder)
        if len(systems) > 1 and not paired:
            raise ValueError("several systems without a test: score them one by one")
        sys.argv = ["sacrebleu", *references, "-i", *systems, "-q", *options.words]
        logging.disable(logging.WARNING)
        try:
            tool.main()
        except SystemExit as end:
            if end.code:
                raise
    if "--sentence" in case["options"]:
        json.dump([{"sentence": values} for _, values in results], write)
    else:
        json.dump(results if paired else [dict(results)], write)


def version():
    return tool.VERSION


def oracle(case):
    """The list of systems (or of sentences), each a dictionary of metrics, or the text of the exception
    that ended the tool."""
    with tempfile.TemporaryFile("w+") as answer, tempfile.TemporaryFile("w+") as complaint:
        child = os.fork()
        if child == 0:
            try:
                sys.stdout.flush()
                os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
                in_child(case, answer)
                answer.flush()
                os._exit(0)
            except BaseException as error:
                complaint.write(f"{type(error).__name__}: {error}\n{traceback.format_exc()}")
                complaint.flush()
                os._exit(1)
        _, status = os.waitpid(child, 0)
        answer.seek(0)
        complaint.seek(0)
        return json.load(answer) if status == 0 else complaint.read()
