"""The models of bench/models.cpp in current PyTorch, with the first weights of ours.

Post-norm, dropout on embeddings and branches, sinusoidal positions, one table for all embeddings.
Activations are `[rows, width]`: the rows of a padded batch, or of its tokens only (`packed`).
"""

import math
from dataclasses import dataclass

import torch
from torch import nn
from torch.nn import functional as F
from torch.nn.utils.rnn import pad_sequence

dropout = 0.1
heads_of_width = {128: 4, 512: 8, 768: 12}


@dataclass(frozen=True)
class Shape:
    """What the name of a model says, `seq2seq-LAYERS-WIDTH` or `causal-LAYERS-WIDTH`."""

    translates: bool
    layers: int
    width: int

    @staticmethod
    def of(name):
        kind, layers, width = name.split("-")
        return Shape(kind == "seq2seq", int(layers), int(width))

    @property
    def heads(self):
        return heads_of_width[self.width]

    @property
    def smoothing(self):
        return 0.1 if self.translates else 0.0


class Spread(torch.autograd.Function):
    """Rows of tokens to their places in a padded batch. Each place is met once, which autograd's
    own derivative of `index_copy` does not know."""

    @staticmethod
    def forward(ctx, rows, places, size):
        ctx.save_for_backward(places)
        return rows.new_zeros(size, rows.size(1)).index_copy_(0, places, rows)

    @staticmethod
    def backward(ctx, gradient):
        (places,) = ctx.saved_tensors
        return gradient.index_select(0, places), None, None


class Gather(torch.autograd.Function):
    """The rows of tokens out of a padded batch."""

    @staticmethod
    def forward(ctx, rows, places):
        ctx.save_for_backward(places)
        ctx.size = rows.size(0)
        return rows.index_select(0, places)

    @staticmethod
    def backward(ctx, gradient):
        (places,) = ctx.saved_tensors
        spread = gradient.new_zeros(ctx.size, gradient.size(1))
        return spread.index_copy_(0, places, gradient), None


class Sequences:
    """One side of a batch: its ids as rows, and where these lie in the padded form `[B, L]`."""

    def __init__(self, lists, packed):
        sequences = [torch.tensor(each) for each in lists]
        lengths = torch.tensor([len(each) for each in sequences])
        self.count, self.longest = len(sequences), int(lengths.max())
        real = torch.arange(self.longest)[None] < lengths[:, None]
        self.places = real.flatten().nonzero().flatten()
        self.packed = packed and not bool(real.all())
        self.ids = self.rows_of(sequences)
        self.positions = self.rows_of([torch.arange(len(each)) for each in sequences])
        self.mask = None
        if not bool(real.all()):
            self.mask = torch.zeros(self.count, 1, 1, self.longest)
            self.mask.masked_fill_(~real[:, None, None], -math.inf)

    def rows_of(self, sequences):
        """Token values of each sequence as one vector, in the order of the rows; 0 at pads."""
        if self.packed:
            return torch.cat(sequences)
        return pad_sequence(sequences, batch_first=True).flatten()

    def split(self, rows, heads):
        """`[rows, width]` to `[B, heads, L, width of a head]`."""
        if self.packed:
            rows = Spread.apply(rows, self.places, self.count * self.longest)
        return rows.view(self.count, self.longest, heads, -1).transpose(1, 2)

    def join(self, split):
        rows = split.transpose(1, 2).reshape(self.count * self.longest, -1)
        return Gather.apply(rows, self.places) if self.packed else rows


def plain_attention(query, key, value, mask, causal):
    scores = (query * query.size(-1) ** -0.5) @ key.transpose(-1, -2)
    if causal:
        length = scores.size(-1)
        scores = scores + torch.full((length, length), -math.inf, dtype=scores.dtype).triu(1)
    elif mask is not None:
        scores = scores + mask.to(scores.dtype)
    return scores.softmax(-1).to(value.dtype) @ value


def fused_attention(query, key, value, mask, causal):
    return F.scaled_dot_product_attention(query, key, value, attn_mask=mask, is_causal=causal)


attentions = {"sdpa": fused_attention, "plain": plain_attention}


class Attention(nn.Module):
    """Query, key and value from one product where they read the same rows."""

    def __init__(self, given, at, shape, function):
        super().__init__()
        joined = ("query", "key", "value")
        self.weight = nn.Parameter(torch.cat([given[f"{at}.{n}.weight"] for n in joined]))
        self.bias = nn.Parameter(torch.cat([given[f"{at}.{n}.bias"] for n in joined]))
        self.out_weight = nn.Parameter(given[f"{at}.output.weight"])
        self.out_bias = nn.Parameter(given[f"{at}.output.bias"])
        self.shape, self.function = shape, function

    def attend(self, query, key, value, queries, keys, causal):
        split = (queries.split(query, self.shape.heads), keys.split(key, self.shape.heads),
                 keys.split(value, self.shape.heads))
        found = self.function(*split, None if causal else keys.mask, causal)
        return F.linear(queries.join(found), self.out_weight, self.out_bias)

    def to_itself(self, rows, sequences, causal):
        query, key, value = F.linear(rows, self.weight, self.bias).chunk(3, -1)
        return self.attend(query, key, value, sequences, sequences, causal)

    def to_memory(self, rows, memory, sequences, source):
        width = self.shape.width
        query = F.linear(rows, self.weight[:width], self.bias[:width])
        key, value = F.linear(memory, self.weight[width:], self.bias[width:]).chunk(2, -1)
        return self.attend(query, key, value, sequences, source, False)


class FeedForward(nn.Module):
    def __init__(self, given, at):
        super().__init__()
        self.in_weight = nn.Parameter(given[f"{at}.in.weight"])
        self.in_bias = nn.Parameter(given[f"{at}.in.bias"])
        self.out_weight = nn.Parameter(given[f"{at}.out.weight"])
        self.out_bias = nn.Parameter(given[f"{at}.out.bias"])

    def forward(self, rows):
        hidden = F.relu(F.linear(rows, self.in_weight, self.in_bias))
        return F.linear(hidden, self.out_weight, self.out_bias)


class Residual(nn.Module):
    def __init__(self, given, at):
        super().__init__()
        self.gain = nn.Parameter(given[f"{at}.norm_out.gain"])
        self.bias = nn.Parameter(given[f"{at}.norm_out.bias"])

    def forward(self, shortcut, branch):
        joined = shortcut + F.dropout(branch, dropout, self.training)
        return F.layer_norm(joined, self.gain.shape, self.gain, self.bias, 1e-5)


class Block(nn.Module):
    def __init__(self, given, at, shape, function, reads_memory):
        super().__init__()

        def part(name):
            residual = Residual(given, f"{at}.{name}_residual")
            if name == "feed_forward":
                return FeedForward(given, f"{at}.{name}"), residual
            return Attention(given, f"{at}.{name}", shape, function), residual

        self.itself, self.itself_residual = part("self_attention")
        if reads_memory:
            self.memory, self.memory_residual = part("cross_attention")
        self.feed_forward, self.feed_forward_residual = part("feed_forward")

    def forward(self, rows, sequences, causal, memory=None, source=None):
        rows = self.itself_residual(rows, self.itself.to_itself(rows, sequences, causal))
        if memory is not None:
            read = self.memory.to_memory(rows, memory, sequences, source)
            rows = self.memory_residual(rows, read)
        return self.feed_forward_residual(rows, self.feed_forward(rows))


def sinusoids(count, width):
    """[count, width] for positions from 1: sines, then cosines, as in base of fairseq."""
    half = width // 2
    rates = torch.exp(torch.arange(half).double() * -(math.log(10000.0) / (half - 1)))
    angles = torch.outer(torch.arange(1, count + 1).double(), rates)
    return torch.cat([angles.sin(), angles.cos()], 1).float()


class Model(nn.Module):
    """`forward` is the mean loss of a batch over its target tokens."""

    def __init__(self, given, shape, attention="sdpa", fused_loss=False):
        super().__init__()
        self.shape, self.fused_loss = shape, fused_loss
        self.embedding = nn.Parameter(given["target_embedding.weight"])
        self.register_buffer("table", sinusoids(1025, shape.width))
        function = attentions[attention]
        self.encoder = nn.ModuleList(
            Block(given, f"encoder.layers.{i}", shape, function, False)
            for i in range(shape.layers if shape.translates else 0))
        self.decoder = nn.ModuleList(
            Block(given, f"decoder.layers.{i}", shape, function, shape.translates)
            for i in range(shape.layers))

    def embed(self, sequences):
        rows = F.embedding(sequences.ids, self.embedding) * math.sqrt(self.shape.width)
        return F.dropout(rows + self.table[sequences.positions], dropout, self.training)

    def forward(self, source, target, expected):
        memory = None
        if self.shape.translates:
            memory = self.embed(source)
            for block in self.encoder:
                memory = block(memory, source, False)
        rows = self.embed(target)
        for block in self.decoder:
            rows = block(rows, target, True, memory, source)
        how = {"ignore_index": 0, "label_smoothing": self.shape.smoothing}
        if self.fused_loss:
            return F.linear_cross_entropy(rows, self.embedding, expected, **how)
        return F.cross_entropy(F.linear(rows, self.embedding), expected, **how)
