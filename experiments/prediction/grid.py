"""The grid: which recipes are trained, which half a threshold may look at, and what they came to."""

import itertools
import json
import math
import random

SEED = 2026
SIZE = 128
RESIDUALS = ("post_norm", "pre_norm", "admin", "deep_norm", "rezero", "sandwich_norm", "no_norm", "layer_scale")
DEPTHS = (2, 6, 12)
NORMS = ("layer_norm", "rms_norm")
WARMUPS = (0, 30, 120)
CLIP_NORMS = (0, 1)
# A kind with its rates: the first trains a shallow pre_norm to well below the frequency of pieces.
OPTIMIZERS = {"radam": (2e-3, 8e-3, 3e-2, 1e-1), "adam": (2e-3, 8e-3, 3e-2, 1e-1),
              "lion": (5e-4, 2e-3, 8e-3, 3e-2), "sgd": (0.1, 0.3, 1, 3)}


def recipes():
    """Recipes by name, `SIZE` of all combinations; each value of each axis about equally often."""
    names = ("residual", "depth", "norm", "warmup", "clip_norm", "optimizer", "rate")
    axes = (RESIDUALS, DEPTHS, NORMS, WARMUPS, CLIP_NORMS, tuple(OPTIMIZERS), range(4))
    everything = [dict(zip(names, values)) for values in itertools.product(*axes)]
    chosen = random.Random(SEED).sample(everything, SIZE)
    return {f"{i:03d}": settings(each) for i, each in enumerate(chosen)}


def settings(choice):
    return {
        "model.residual.kind": choice["residual"],
        "model.encoder_layers": choice["depth"],
        "model.decoder_layers": choice["depth"],
        "model.norm.kind": choice["norm"],
        "schedule.warmup": choice["warmup"],
        "train.clip_norm": choice["clip_norm"],
        "optimizer.kind": choice["optimizer"],
        "optimizer.lr": OPTIMIZERS[choice["optimizer"]][choice["rate"]],
    }


def calibration_half(names):
    """Half of the names; the other half is held out. Depends on nothing but the names."""
    return set(random.Random(SEED + 1).sample(sorted(names), len(names) // 2))


OUTCOMES = ("trained", "stuck", "diverged")


def means(losses):
    """Of 20 updates each, the last of them only if they are all there; None where one is not finite."""
    parts = [losses[i:i + 20] for i in range(0, len(losses) - 19, 20)]
    are_finite = [all(x is not None and math.isfinite(x) for x in part) for part in parts]
    return [round(sum(part) / 20, 4) if good else None for part, good in zip(parts, are_finite)]


def outcome(training, unigram_entropy):
    """What a training of `outcomes.jsonl` came to, by the mean of its last 20 losses (nats per token)."""
    final = training["losses"][-1] if training["losses"] and training["status"] == 0 else None
    if final is not None and final < unigram_entropy - 0.15:
        return "trained"
    return "stuck" if final is not None and final < unigram_entropy + 0.5 else "diverged"


def read_records(path):
    return [json.loads(line) for line in path.read_text().splitlines()]
