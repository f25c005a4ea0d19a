#!/usr/bin/env python3
"""The model against a case computed by hand, and sums that have to be 1."""

import math

import numpy as np
from kneser_ney import KneserNey, discounts

A, B, END, BEGIN = range(4)


def by_hand():
    """Documents "a b" and "a a b", order 2, fallback discounts 0.5, 1, 1.5.

    Bigrams (raw counts): <s>a 2, ab 2, aa 1, b</s> 2. Unigrams (distinct left neighbours): a: <s>, a
    = 2; b: a = 1; </s>: b = 1; total 4. Uniform over a, b, </s>: 1/3. Discounts: a 1, b and </s> 0.5
    each, 2 in all.
      p(a) = (2 - 1) / 4 + 2/4 / 3 = 5/12;  p(b) = p(</s>) = (1 - 0.5) / 4 + 1/6 = 7/24
    Bigram discounts: of count 2: 1, of count 1: 0.5.
      p(a|<s>) = (2 - 1) / 2 + 1/2 p(a)       = 17/24
      p(b|a) = (2 - 1) / 3 + 1.5/3 p(b)       = 23/48   (a has 3 followers: b twice, a once)
      p(a|a) = (1 - 0.5) / 3 + 1.5/3 p(a)     = 3/8
      p(</s>|b) = (2 - 1) / 2 + 1/2 p(</s>)   = 31/48
      p(</s>|a) = 1.5/3 p(</s>)               = 7/48
      p(b|<s>) = 1/2 p(b)                     = 7/48
      p(a|b) = 1/2 p(a)                       = 5/24
    """
    model = KneserNey([np.array([A, B]), np.array([A, A, B])], 4, BEGIN, END, order=2)
    wanted = {(A,): [17 / 24, 7 / 48], (A, B): [17 / 24, 23 / 48, 31 / 48],
              (B, A, A): [7 / 48, 5 / 24, 3 / 8, 7 / 48]}
    for document, p in wanted.items():
        np.testing.assert_allclose(model.probabilities([np.array(document)]), p, rtol=1e-12)


def discounts_by_hand():
    """n1 = 4, n2 = 2, n3 = 1, n4 = 1: Y = 4 / 8; D1 = 1 - 2 Y 2/4, D2 = 2 - 3 Y 1/2, D3 = 3 - 4 Y."""
    np.testing.assert_allclose(discounts(np.array([1, 1, 1, 1, 2, 2, 3, 4, 9])), [0, 0.5, 1.25, 1.0])


def sums_to_one():
    generator = np.random.default_rng(1)
    sizes = generator.integers(1, 30, 200)
    documents = [np.minimum(generator.geometric(0.3, n) - 1, 6) for n in sizes]
    begin, end = 8, 7  # 8 words, one of which never occurs beside `end`
    model = KneserNey(documents, 9, begin, end)
    for history in ([], [0], [0, 1, 2, 0, 0, 1], [6, 6, 6, 6, 6], [5, 0, 3]):
        total = 0.0
        for word in range(7):
            total += model.probabilities([np.array(history + [word])])[len(history)]
        total += model.probabilities([np.array(history, dtype=np.int64)])[len(history)]
        assert math.isclose(total, 1, rel_tol=1e-9), (history, total)


if __name__ == "__main__":
    by_hand()
    discounts_by_hand()
    sums_to_one()
    print("ok")
