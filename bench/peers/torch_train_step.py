"""Serves training steps of current PyTorch on the CPU to in_turn.py, which starts it.

Forward, backward, clipping at norm 1, Adam: the step of bench/train_step. A line on standard input
asks for one answer in JSON: a number for the step on that batch (seconds of forward, backward and
update), "gradient" for loss and gradient norm of batch 0 without dropout, "facts" for the rest.
"""

import argparse
import json
import math
import sys
import time

import torch
from safetensors.torch import load_file
from torch import nn

from torch_model import Model, Sequences, Shape, attentions


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("work", help="folder that build/release/bench/peer_work wrote")
    parser.add_argument("model")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--precision", choices=["float32", "bf16"], default="float32")
    parser.add_argument("--compile", choices=["none", "blocks", "whole"], default="none")
    parser.add_argument("--attention", choices=list(attentions), default="sdpa")
    parser.add_argument("--rows", choices=["padded", "packed"], default="padded")
    parser.add_argument("--fused-loss", action="store_true", help="F.linear_cross_entropy")
    parser.add_argument("--products", choices=["mkl", "onednn"], default="mkl",
                        help="of float32 matrices; oneDNN is only taken where it may use bf16, and "
                             "does so where the processor has AMX: that counts as bf16")
    return parser.parse_args()


def set_products(wanted):
    """Lets oneDNN multiply float32 matrices. What it computes with is said by `product_error`."""
    if wanted != "mkl":
        torch.backends.mkldnn.matmul.fp32_precision = "bf16"


def product_error():
    left, right = torch.randn(512, 512), torch.randn(512, 512)
    return (left @ right - left.double() @ right.double()).abs().max().item()


class Trainer:
    def __init__(self, options):
        self.shape = Shape.of(options.model)
        self.bf16 = options.precision == "bf16"
        self.model = Model(load_file(f"{options.work}/{options.model}.safetensors"), self.shape,
                           options.attention, options.fused_loss)
        with open(f"{options.work}/{options.model}.batches.json") as file:
            batches = json.load(file)["batches"]
        self.batches = [self.batch(each, options.rows == "packed") for each in batches]
        self.loss = self.model
        # Lengths differ from batch to batch in translation only.
        changing = self.shape.translates
        if options.compile == "blocks":
            for block in [*self.model.encoder, *self.model.decoder]:
                block.compile(dynamic=changing)
        elif options.compile == "whole":
            self.loss = torch.compile(self.model, dynamic=changing)
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=1e-4, betas=(0.9, 0.98),
                                          eps=1e-8, fused=True)

    def batch(self, read, packed):
        source = Sequences(read["source"], packed) if self.shape.translates else None
        target = Sequences(read["input"], packed)
        return source, target, target.rows_of([torch.tensor(each) for each in read["output"]])

    def forward(self, number):
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=self.bf16):
            return self.loss(*self.batches[number])

    def step(self, number):
        self.model.train()
        times = [time.perf_counter()]
        loss = self.forward(number)
        times.append(time.perf_counter())
        loss.backward()
        times.append(time.perf_counter())
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0, foreach=True)
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        times.append(time.perf_counter())
        return [after - before for before, after in zip(times, times[1:])]

    def gradient(self):
        self.model.eval()
        loss = self.forward(0)
        loss.backward()
        squares = sum(each.grad.double().square().sum().item() for each in self.model.parameters())
        self.model.zero_grad(set_to_none=True)
        return [loss.item(), math.sqrt(squares)]


def main():
    options = arguments()
    torch.set_num_threads(options.threads)
    torch.manual_seed(1)
    set_products(options.products)
    # Each length is a shape of its own where two sizes happen to be equal.
    torch._dynamo.config.cache_size_limit = 64
    torch._dynamo.config.accumulated_cache_size_limit = 512
    trainer = Trainer(options)
    for line in sys.stdin:
        question = json.loads(line)
        if question == "gradient":
            answer = trainer.gradient()
        elif question == "facts":
            answer = {"torch": torch.__version__, "product_error": product_error()}
        else:
            answer = trainer.step(question)
        print(json.dumps(answer), flush=True)


main()
