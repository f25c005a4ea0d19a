"""Serves beam searches of CTranslate2 on the CPU to in_turn.py, which starts it.

The model and the sentences of bench/decode: 6 + 6 layers, d 512, post-norm, random weights. There each
output ends one token after the length of its source, since random weights do not end by themselves.
CTranslate2 has one length for a whole call, so --batching says which sentences share a call:

  exact    those of equal length: the same steps for each sentence as in bench/decode
  mean     those of similar length, all as long as their mean: as many tokens in all, larger batches
  longest  the same, all as long as the longest: more tokens than bench/decode

A line on standard input asks for one answer in JSON: a number for [seconds, best outputs] of that many
sentences, "facts" for the rest. CT2_FORCE_CPU_ISA and CT2_USE_MKL count.
"""

import argparse
import json
import math
import os
import pathlib
import shutil
import sys
import tempfile
import time

import ctranslate2
import numpy
from ctranslate2.specs import common_spec, transformer_spec
from safetensors.numpy import load_file

layers, width, heads, longest = 6, 512, 8, 512
length_of = {
    "exact": lambda lengths: lengths[0],
    "mean": lambda lengths: round(sum(lengths) / len(lengths)),
    "longest": max,
}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("work", help="folder that build/release/bench/peer_work wrote")
    parser.add_argument("--type", default="float32",
                        choices=sorted(ctranslate2.get_supported_compute_types("cpu")))
    parser.add_argument("--workers", type=int, default=1, help="calls at the same time")
    parser.add_argument("--threads", type=int, default=2, help="of each worker")
    parser.add_argument("--batching", choices=list(length_of), default="exact")
    parser.add_argument("--batch-tokens", type=int, default=4096)
    parser.add_argument("--beam", type=int, default=4)
    return parser.parse_args()


def set_linear(spec, given, names):
    spec.weight = numpy.concatenate([given[f"{name}.weight"] for name in names])
    spec.bias = numpy.concatenate([given[f"{name}.bias"] for name in names])


def set_norm(spec, given, residual):
    spec.gamma = given[f"{residual}.norm_out.gain"]
    spec.beta = given[f"{residual}.norm_out.bias"]


def set_attention(spec, given, at, joined):
    for place, names in zip(spec.linear, joined):
        set_linear(place, given, [f"{at}.{name}" for name in names])
    set_norm(spec.layer_norm, given, f"{at}_residual")


def set_stack(spec, given, side, table):
    embedding = spec.embeddings[0] if isinstance(spec.embeddings, list) else spec.embeddings
    embedding.weight = given["target_embedding.weight"]
    spec.scale_embeddings = True
    spec.position_encodings.encodings = table
    for number, layer in enumerate(spec.layer):
        at = f"{side}.layers.{number}"
        set_attention(layer.self_attention, given, f"{at}.self_attention",
                      [("query", "key", "value"), ("output",)])
        if side == "decoder":
            set_attention(layer.attention, given, f"{at}.cross_attention",
                          [("query",), ("key", "value"), ("output",)])
        set_linear(layer.ffn.linear_0, given, [f"{at}.feed_forward.in"])
        set_linear(layer.ffn.linear_1, given, [f"{at}.feed_forward.out"])
        set_norm(layer.ffn.layer_norm, given, f"{at}.feed_forward_residual")


def sinusoids():
    half = width // 2
    rates = numpy.exp(numpy.arange(half) * -(math.log(10000.0) / (half - 1)))
    angles = numpy.outer(numpy.arange(1, longest + 1), rates)
    return numpy.concatenate([numpy.sin(angles), numpy.cos(angles)], 1).astype(numpy.float32)


def convert(given, words, folder):
    spec = transformer_spec.TransformerSpec.from_config(
        (layers, layers), heads, pre_norm=False, activation=common_spec.Activation.RELU)
    for side, stack in (("encoder", spec.encoder), ("decoder", spec.decoder)):
        set_stack(stack, given, side, sinusoids())
    spec.decoder.projection.weight = given["target_embedding.weight"]
    spec.register_source_vocabulary(words)
    spec.register_target_vocabulary(words)
    spec.config.add_source_bos = spec.config.add_source_eos = False
    spec.config.bos_token = spec.config.decoder_start_token = "<s>"
    spec.config.eos_token, spec.config.unk_token = "</s>", "<unk>"
    spec.validate()
    spec.optimize(quantization=None)
    # Several sides may convert at once: whose folder is whole first has made it.
    made = tempfile.mkdtemp(dir=folder.parent)
    spec.save(made)
    try:
        os.rename(made, folder)
    except OSError:
        shutil.rmtree(made)


class Search:
    def __init__(self, options):
        self.options = options
        work = pathlib.Path(options.work)
        data = json.loads((work / "decode.json").read_text())
        words = ["<pad>", "<unk>", "<s>", "</s>"]
        words += [f"t{number}" for number in range(len(words), data["vocabulary"])]
        self.number_of = {word: number for number, word in enumerate(words)}
        self.sources = [[words[number] for number in source] for source in data["sources"]]
        folder = work / "ctranslate2"
        if not folder.exists():
            convert(load_file(work / "seq2seq-6-512.safetensors"), words, folder)
        self.translator = ctranslate2.Translator(
            str(folder), device="cpu", compute_type=options.type, inter_threads=options.workers,
            intra_threads=options.threads)

    def calls(self, count):
        """The sentences of each call, longest first."""
        calls = []
        for place in sorted(range(count), key=lambda i: -len(self.sources[i])):
            length = len(self.sources[place])
            if calls:
                first = len(self.sources[calls[-1][0]])
                room = max(1, self.options.batch_tokens // (first * self.options.beam))
                equal = self.options.batching != "exact" or first == length
                if len(calls[-1]) < room and equal:
                    calls[-1].append(place)
                    continue
            calls.append([place])
        return calls

    def translate(self, count):
        begin = time.perf_counter()
        running = [(places, self.start(places)) for places in self.calls(count)]
        best = [None] * count
        for places, results in running:
            for place, result in zip(places, results):
                best[place] = result.result().hypotheses[0]
        seconds = time.perf_counter() - begin
        return seconds, [[self.number_of[word] for word in words] for words in best]

    def start(self, places):
        sources = [self.sources[place] for place in places]
        length = length_of[self.options.batching]([len(source) for source in sources]) + 1
        return self.translator.translate_batch(
            sources, beam_size=self.options.beam, num_hypotheses=1, min_decoding_length=length,
            max_decoding_length=length, batch_type="examples", max_batch_size=0, asynchronous=True)


def main():
    search = Search(arguments())
    for line in sys.stdin:
        question = json.loads(line)
        if question == "facts":
            answer = {"ctranslate2": ctranslate2.__version__,
                      "type": search.translator.compute_type,
                      "isa": os.environ.get("CT2_FORCE_CPU_ISA", "")}
        else:
            answer = search.translate(question)
        print(json.dumps(answer), flush=True)


main()
