"""Made-up corpora and random options of `ballast score`, and the SentencePiece model that some name.

Characters are those that Python's Unicode knows: sacreBLEU, its `regex` and ICU come with versions of
their own, which know later ones or not.
"""
import pathlib
import random
import unicodedata

latin = "the a of dog cat bit man had Not was It's 3-4 1,000.5 &quot;yes&quot; &amp;lt; U.S. e.g. " \
    "John's it's (a) [b] «x» well-known 50% $5 -- <skipped> a/b x_y ~ Straße ΟΔΟΣ ΑΣ. İstanbul Ǆ ﬁn" \
    " . , ! ? .. ... ,, 'tis dogs' 1. .5 5, a- 9- -9 ; : \" ' ` ^ | \\ {z} @w #h".split()
japanese = "今日 は 良い 天気 です 私 の 猫 東京 都 に 行き ました 。 、 令和 元年 コンピュータ を 使う ー 々 " \
    "「 」 （笑） ｱｲｳ １２３ 食べ させ られ た すもも も もも の うち 5月 NHK ・ ： ！".split()
korean = "안녕 하세요 저는 한국어 를 공부 합니다 아버지가 방에 들어가신다 은 는 이 가 을 서울 대학교 에서 . ? ! 2024년 " \
    "했 었 습니다 ㅋㅋㅋ KBS 입니다 고 싶 다 , “ ” 漢字".split()
chinese = "我 们 今天 去 北京 。 ， 你好 ！ 中国 人民 3.5 万 （ 一 ） 《 书 》 x 龥 龦 㐀 豈 １ Ａ ㈠ ㍿ 𠀀 ⼀ 〇 ✓ ☃ a".split()
odd = [chr(c) for c in (
    0xa0, 0x85, 0x1c, 0x1f, 0x2028, 0x2029, 0x3000, 0x200b, 0x200d, 0xfeff, 0xad, 0x301, 0x5d0, 0x627,
    0x663, 0x66b, 0x1f600, 0x1f1e9, 0xfffd, 0xe000, 0xffff, 0x2160, 0xbd, 0x1d7d8, 0x20ac, 0x2212,
    0x3fa, 0x130, 0x1c5, 0x10400, 0xfb01, 0x1e9e, 0x2a6d, 0x2a6e, 0x2000, 0x2001, 0x2f80, 0x2f81,
    0x2fa1, 0x2fa2, 0x20000, 0x2a6d6, 0x3f22, 0x3f23, 0x9, 0xb, 0xc, 0xd, 0x1, 0x7f, 0xff0e, 0xff61)]
vocabularies = {"latin": latin, "ja": japanese, "ko": korean, "zh": chinese}


def any_character(rng):
    while True:
        c = rng.choice((rng.randrange(0x20, 0x3000), rng.randrange(0x3000, 0xd800),
                        rng.randrange(0xe000, 0x11000), rng.randrange(0x1d000, 0x20000)))
        if unicodedata.category(chr(c)) != "Cn" and c != 10:
            return chr(c)


def word(rng, vocabulary):
    kind = rng.random()
    if kind < 0.86:
        return rng.choice(vocabulary)
    if kind < 0.94:
        return rng.choice(vocabulary) + rng.choice(odd) + rng.choice(vocabulary)
    return "".join(any_character(rng) for _ in range(rng.randrange(1, 5)))


def line(rng, vocabulary, longest):
    kind = rng.random()
    if kind < 0.04:
        return rng.choice(("", " ", "\t", "\u3000", "\u00a0 "))
    joint = rng.choice((" ", " ", "", "  ")) if vocabulary is not latin else " "
    words = [word(rng, vocabulary) for _ in range(rng.randrange(1, longest))]
    if kind < 0.08:
        words = [rng.choice(words)] * len(words)
    return joint.join(words) + rng.choice(("", "", "", " .", " ", "."))


def changed(rng, text, vocabulary):
    """A line as a system might have translated it."""
    words = text.split(" ")
    for _ in range(rng.randrange(0, 5)):
        at = rng.randrange(len(words))
        kind = rng.randrange(5)
        if kind == 0:
            words[at] = word(rng, vocabulary)
        elif kind == 1 and len(words) > 1:
            del words[at]
        elif kind == 2:
            words.insert(at, word(rng, vocabulary))
        elif kind == 3:
            end = min(len(words), at + rng.randrange(1, 6))
            stretch = words[at:end]
            del words[at:end]
            to = rng.randrange(len(words) + 1)
            words[to:to] = stretch
        else:
            words[at] = rng.choice((words[at].upper(), words[at].lower(), words[at].title()))
    return " ".join(words)


def corpus(rng):
    language = rng.choice(("latin", "latin", "latin", "ja", "ko", "zh"))
    vocabulary = vocabularies[language]
    count = rng.choice((1, 2, 3, rng.randrange(4, 20), rng.randrange(20, 60), rng.randrange(100, 300)))
    longest = rng.choice((2, 4, 12, 30 if count < 60 else 12))
    truth = [line(rng, vocabulary, longest) for _ in range(count)]

    def text():
        lines = [changed(rng, t, vocabulary) if rng.random() < 0.9
                 else line(rng, vocabulary, longest) for t in truth]
        if lines[0].startswith("\ufeff"):
            lines[0] = "x" + lines[0]  # a byte-order mark: sacreBLEU takes it for text
        return lines

    return {"language": language, "references": [text() for _ in range(rng.choice((1, 1, 1, 2, 3, 4)))],
            "systems": [text() for _ in range(3)]}


def maybe(rng, share, *words):
    return [str(w) for w in words] if rng.random() < share else []


def bleu_options(rng, language):
    fitting = {"latin": "13a", "ja": "ja-mecab:@JA@", "ko": "ko-mecab:@KO@", "zh": "zh"}[language]
    every = ["13a", "intl", "zh", "char", "none", "ja-mecab:@JA@", "ko-mecab:@KO@",
             "flores101:@SPM@", "flores200:@SPM@"]
    options = ["--tokenize", fitting if rng.random() < 0.4 else rng.choice(every)]
    method = rng.choice(("exp", "floor", "add-k", "none"))
    options += maybe(rng, 0.6, "--smooth-method", method)
    if method in ("floor", "add-k"):
        options += maybe(rng, 0.5, "--smooth-value", rng.choice((0, 0.01, 0.5, 1, 1.5, 2)))
    options += maybe(rng, 0.3, "--lowercase")
    options += maybe(rng, 0.2, "--max-ngram-order", rng.randrange(1, 8))
    return options + maybe(rng, 0.2, "--use-effective-order")


def chrf_options(rng):
    words = rng.choice((0, 0, 2, 1, 5))
    characters = rng.choice((6, 6, 1, 3, 9) + ((0,) if words else ()))
    options = ["--chrf-word-order", str(words), "--chrf-char-order", str(characters)]
    options += maybe(rng, 0.3, "--chrf-beta", rng.choice((0, 1, 3, 7)))
    options += maybe(rng, 0.3, "--chrf-whitespace") + maybe(rng, 0.3, "--chrf-lowercase")
    return options + maybe(rng, 0.3, "--chrf-eps-smoothing")


def ter_options(rng):
    return [word for flag in ("normalized", "no-punct", "asian-support", "case-sensitive")
            for word in maybe(rng, 0.4, f"--ter-{flag}")]


def options(rng, language, metrics):
    made = ["--metrics", *metrics]
    if "bleu" in metrics:
        made += bleu_options(rng, language)
    if "chrf" in metrics:
        made += chrf_options(rng)
    if "ter" in metrics:
        made += ter_options(rng)
    return made


def test_options(rng, kind):
    if kind == "confidence":
        made = ["--confidence"] + maybe(rng, 0.9, "--confidence-n", rng.choice((2, 39, 40, 41, 200)))
    elif kind == "bs":
        made = ["--paired-bs"] + maybe(rng, 0.95, "--paired-bs-n", rng.choice((2, 7, 130, 300)))
    else:
        made = ["--paired-ar"] + maybe(rng, 1, "--paired-ar-n", rng.choice((2, 7, 130, 400)))
    return made + maybe(rng, 0.4, "--seed", rng.choice((1, 7, 99999999999)))


def cases_of(rng, number):
    """A case a metric, and one each of all metrics, sentences and the three tests."""
    made = corpus(rng)
    language = made.pop("language")
    one = {**made, "systems": made["systems"][:1]}
    plans = [(one, options(rng, language, [m])) for m in ("bleu", "chrf", "ter")]
    plans.append((one, options(rng, language, ["bleu", "chrf", "ter"])))
    plans.append((one, ["--sentence", *options(rng, language, [rng.choice(("bleu", "chrf", "ter"))])]))
    for kind in ("confidence", "bs", "ar"):
        metrics = rng.choice((["bleu"], ["chrf"], ["ter"], ["bleu", "chrf", "ter"]))
        texts = one if kind == "confidence" else made
        plans.append((texts, options(rng, language, metrics) + test_options(rng, kind)))
    for which, (texts, words) in enumerate(plans):
        yield {"name": f"corpus-{number}.{which}", **texts, "options": words}


def make_model(folder, **settings):
    """A SentencePiece model where sacreBLEU, told to keep its files in `folder`, looks for those of
    Flores-101 and Flores-200."""
    import sentencepiece

    models = pathlib.Path(folder) / "models"
    models.mkdir()
    rng = random.Random(5)
    text = [" ".join(rng.choices(rng.choice(list(vocabularies.values())), k=9)) for _ in range(2000)]
    made = models / "sacrebleu_tokenizer_spm.model"
    with open(made, "wb") as stream:
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(text), model_writer=stream, minloglevel=3, hard_vocab_limit=False,
            **{"vocab_size": 700, "character_coverage": 0.98, **settings})
    (models / "flores200sacrebleuspm").write_bytes(made.read_bytes())
    return made
