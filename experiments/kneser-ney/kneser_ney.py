"""Interpolated modified Kneser-Ney n-grams (Chen and Goodman 1998) over arrays of token ids.

As in KenLM: the highest order has raw counts, lower orders have numbers of distinct left neighbours
(raw counts where the n-gram begins a document, which has no left neighbour); three discounts for
each order from n1 to n4; unigrams are interpolated with the uniform distribution.
"""

import numpy as np


def stream(documents, begin, end):
    """One array of all documents, each from `begin` to `end`, and for each place its offset."""
    pieces, offsets = [], []
    for document in documents:
        piece = np.concatenate([[begin], document, [end]]).astype(np.int64)
        pieces.append(piece)
        offsets.append(np.arange(len(piece)))
    return np.concatenate(pieces), np.concatenate(offsets)


def discounts(counts):
    """D1, D2, D3+ from the number of n-grams that occur 1, 2, 3 and 4 times.

    Where one of them is 0, or a discount is out of range: 0.5, 1, 1.5 (KenLM's fallback)."""
    n = [np.count_nonzero(counts == k) for k in range(5)]
    if all(n[1:]):
        y = n[1] / (n[1] + 2 * n[2])
        found = [k - (k + 1) * y * n[k + 1] / n[k] for k in (1, 2, 3)]
        if all(0 <= d <= k for k, d in zip((1, 2, 3), found)):
            return np.array([0.0] + found)
    return np.array([0.0, 0.5, 1.0, 1.5])


def pairs(suffixes, words, vocabulary):
    """A key of an n-gram from the id of its last n - 1 words and its first word; -1: there is none."""
    return np.where(suffixes < 0, -1, suffixes * vocabulary + words)


class Order:
    """The n-grams of one length that occur in training."""

    def __init__(self, keys, places):
        self.keys, first, self.counts = np.unique(keys[places], return_index=True, return_counts=True)
        self.first = places[first]  # a place where it ends

    def ids(self, keys):
        """Of n-grams by their keys; -1 where one never occurs."""
        at = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        return np.where(self.keys[at] == keys, at, -1)

    def estimate(self, adjusted, histories, history_count):
        """Discounted counts, and by history their total and the weight of the lower order."""
        d = discounts(adjusted)[np.minimum(adjusted, 3)]
        self.discounted = adjusted - d
        self.total = np.bincount(histories, adjusted, history_count)
        self.left = np.bincount(histories, d, history_count)


class KneserNey:
    """Learned from documents of ids in [0, vocabulary); `begin` is never predicted, `end` is."""

    def __init__(self, documents, vocabulary, begin, end, order=5):
        self.begin, self.end, self.vocabulary, self.order = begin, end, vocabulary, order
        words, offsets = stream(documents, begin, end)
        self.orders = []
        grams = []  # of each order: the id of the n-gram that ends at a place, or -1
        suffixes = np.zeros(len(words), dtype=np.int64)
        for n in range(1, order + 1):
            keys = self._keys(words, offsets, suffixes, n)
            places = np.flatnonzero(keys >= 0)
            self.orders.append(Order(keys, places))
            suffixes = self.orders[-1].ids(keys)
            grams.append(suffixes)
        for n in range(1, order + 1):
            self._estimate(n, words, grams)

    def _keys(self, words, offsets, suffixes, n):
        first = np.zeros_like(words)
        first[n - 1:] = words[:max(0, len(words) - n + 1)]
        return np.where(offsets >= n - 1, pairs(suffixes, first, self.vocabulary), -1)

    def _estimate(self, n, words, grams):
        here = self.orders[n - 1]
        adjusted = here.counts.copy()
        if n < self.order:
            longer = self.orders[n]
            neighbours = np.bincount(longer.keys // self.vocabulary, minlength=len(here.keys))
            begins = words[here.first - (n - 1)] == self.begin
            adjusted = np.where(begins, here.counts, neighbours)
        if n == 1:
            adjusted[here.keys == self.begin] = 0
            histories, count = np.zeros(len(here.keys), dtype=np.int64), 1
        else:
            histories, count = grams[n - 2][here.first - 1], len(self.orders[n - 2].keys)
        here.estimate(adjusted, histories, count)

    def probabilities(self, documents):
        """Of every token of the documents and of their ends, one array."""
        words, offsets = stream(documents, self.begin, self.end)
        p = np.full(len(words), 1.0 / (self.vocabulary - 1))  # all but `begin`
        suffixes = np.zeros(len(words), dtype=np.int64)
        before = np.zeros(len(words), dtype=np.int64)  # ids of histories; the empty one is 0
        for n, here in enumerate(self.orders, start=1):
            keys = self._keys(words, offsets, suffixes, n)
            ids = here.ids(keys)
            total = np.where(before >= 0, here.total[before], 0)
            known = total > 0
            hit = np.where(ids >= 0, here.discounted[ids], 0)
            share = (hit + here.left[before] * p) / np.where(known, total, 1)
            p = np.where(known, share, p)
            suffixes = ids
            before = np.full(len(words), -1, dtype=np.int64)
            before[1:] = ids[:-1]
            before[offsets == 0] = -1
        return p[offsets > 0]
