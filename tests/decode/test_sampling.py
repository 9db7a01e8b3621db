"""Samples follow the distributions they are drawn from."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from toy import BigramTable, ToyTokenizer, random_bigram

from lmkit.decode.sample import (
    Request,
    SamplingConfig,
    choose_filtered,
    draw_samples,
    max_rows,
)
from lmkit.errors import UserError
from lmkit.language_model import BOS, EOS, Ids, LanguageModel, Logprobs, Mode

WORDS = ["a", "b", "c"]
NOTHING = np.empty(0, dtype=np.uint32)


def samples(
    model: LanguageModel, count: int, context: Ids = NOTHING, first: int = 0, **settings: float
) -> list[list[int]]:
    requests = [Request(context, (0, first + i)) for i in range(count)]
    config = SamplingConfig(**settings)  # type: ignore[arg-type]
    return [ids.tolist() for ids in draw_samples(model, requests, config)]


def chi_square(observed: "np.ndarray", expected: "np.ndarray") -> float:
    return float(((observed - expected) ** 2 / expected).sum())


def test_a_hundred_thousand_tokens_follow_the_bigram() -> None:
    model = random_bigram(WORDS, seed=1)
    size = len(model.table)
    seen = np.zeros((size, size))
    total = 0
    while total < 100_000:
        for ids in samples(model, 2000, first=total, seed=5):
            np.add.at(seen, ([BOS, *ids[:-1]], ids), 1)
            total += len(ids)
    states = [row for row in range(size) if row != EOS]
    possible = [column for column in range(size) if column != BOS]
    assert seen[:, BOS].sum() == 0 and seen[EOS].sum() == 0
    seen = seen[np.ix_(states, possible)]
    expected = model.table[np.ix_(states, possible)] * seen.sum(axis=1, keepdims=True)
    # 5 states with 4 degrees of freedom each; the 0.999 quantile of chi-square(20) is 45.3.
    assert expected.min() > 5
    assert chi_square(seen, expected) < 45.3
    # The test can fail: a distribution a little off does not pass it.
    tilted = expected**1.1
    tilted *= seen.sum(axis=1, keepdims=True) / tilted.sum(axis=1, keepdims=True)
    assert chi_square(seen, tilted) > 100


def test_a_sample_depends_on_its_seed_and_number_alone() -> None:
    model = random_bigram(WORDS, seed=2)
    many = samples(model, 50, seed=3)
    assert samples(model, 50, seed=3) == many
    assert samples(model, 7, first=10, seed=3) == many[10:17]
    assert samples(model, 50, seed=4) != many
    assert len({tuple(ids) for ids in many}) > 10


@pytest.mark.parametrize("mode", ["sentence", "document"])
def test_samples_end_where_they_should(mode: Mode) -> None:
    model = random_bigram(WORDS, seed=2, mode=mode)
    for ids in samples(model, 200, max_tokens=5):
        assert EOS not in ids[:-1] and BOS not in ids
        assert len(ids) == 5 or ids[-1] == EOS
        assert mode == "sentence" or len(ids) == 5
    assert {len(ids) for ids in samples(random_bigram(WORDS, 2, "document"), 3)} == {100}


def test_context_of_each_sample_is_its_own() -> None:
    table = np.zeros((6, 6))
    table[3, 4] = table[4, 5] = table[5, 2] = table[1, 3] = 1.0
    table[0, 2] = table[2, 3] = 1.0
    model = BigramTable(ToyTokenizer(WORDS), table)
    contexts = [[], [3], [3, 4], [4, 4, 4, 5], [5, 2, 3]]
    requests = [Request(np.array(c, dtype=np.uint32), (0, i)) for i, c in enumerate(contexts)]
    drawn = [ids.tolist() for ids in draw_samples(model, requests, SamplingConfig())]
    assert drawn == [[3, 4, 5, 2], [4, 5, 2], [5, 2], [2], [4, 5, 2]]


def test_nothing_asked_nothing_drawn() -> None:
    assert draw_samples(random_bigram(WORDS, 1), [], SamplingConfig()) == []


@pytest.mark.parametrize("temperature", [0.0, 1e-9, 1e-308])
def test_low_temperature_takes_the_likeliest_token(temperature: float) -> None:
    model = random_bigram(WORDS, seed=6)
    (greedy,) = {tuple(ids) for ids in samples(model, 20, temperature=temperature, max_tokens=9)}
    state = model.start(1)
    for token in greedy:
        assert token == model.next_from(state)[0].argmax()
        state = model.advance(state, np.array([token], dtype=np.uint32))


def test_temperature_one_without_filters_is_the_distribution_itself() -> None:
    logprobs = random_bigram(WORDS, seed=1).log_table[[1] * 20_000]
    uniforms = np.random.default_rng(1).random(20_000)
    drawn = choose_filtered(logprobs, uniforms, SamplingConfig(temperature=0.5))
    weights = np.exp(logprobs[0] / 0.5)
    seen = np.bincount(drawn, minlength=len(weights))
    expected = weights / weights.sum() * 20_000
    possible = expected > 0
    assert chi_square(seen[possible], expected[possible]) < 18.5  # chi-square(4), 0.999
    assert seen[~possible].sum() == 0


def distributions() -> st.SearchStrategy[Logprobs]:
    """Return strategies of [1, V] log probabilities with ties and impossible tokens."""
    weights = st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0, 7.0]), min_size=1, max_size=12)
    return weights.filter(any).map(lambda w: _log(np.array([w]) / sum(w)))


def _log(values: "np.ndarray") -> Logprobs:
    with np.errstate(divide="ignore"):
        return np.log(values)


@given(distributions(), st.integers(1, 14), st.floats(0.05, 1.0))
def test_filters_keep_the_likeliest(logprobs: Logprobs, top_k: int, top_p: float) -> None:
    probabilities = np.exp(logprobs[0])
    ranked = sorted(range(len(probabilities)), key=lambda i: (-probabilities[i], i))
    kept = [i for i in ranked[:top_k] if probabilities[i] > 0]
    mass = probabilities[kept].sum()
    nucleus, so_far = [], 0.0
    for token in kept:
        nucleus.append(token)
        so_far += probabilities[token] / mass
        if so_far >= top_p - 1e-9:
            break
    config = SamplingConfig(top_k=top_k, top_p=top_p)
    uniforms = np.linspace(0, 1, 400, endpoint=False)
    drawn = choose_filtered(np.repeat(logprobs, 400, axis=0), uniforms, config)
    assert set(drawn.tolist()) <= set(kept)
    assert set(nucleus) - set(drawn.tolist()) <= set(nucleus[1:])  # rare ones may be missed
    assert len(set(drawn.tolist()) - set(nucleus)) <= 1  # a sum that rounds to just below top_p


def test_nucleus_of_a_large_vocabulary() -> None:
    size = 5000
    probabilities = np.full(size, 1.0)
    probabilities[[17, 4000]] = 100.0
    logprobs = np.log(probabilities / probabilities.sum())[None].repeat(2000, axis=0)
    uniforms = np.random.default_rng(2).random(2000)
    narrow = choose_filtered(logprobs, uniforms, SamplingConfig(top_p=0.03))
    assert set(narrow.tolist()) == {17, 4000}
    wide = choose_filtered(logprobs[:200], uniforms[:200], SamplingConfig(top_p=0.5))
    assert max(wide.tolist()) <= 4000 and len(set(wide.tolist())) > 150


def test_the_largest_uniform_number_draws_a_possible_token() -> None:
    logprobs = _log(np.array([[0.1, 0.2, 0.7, 0.0]]))
    uniforms = np.array([np.nextafter(1.0, 0.0)])
    for config, last in ((SamplingConfig(temperature=0.7), 2), (SamplingConfig(top_k=2), 1)):
        assert choose_filtered(logprobs, uniforms, config).tolist() == [last]


def test_wide_vocabularies_are_sampled_a_few_at_a_time() -> None:
    words = [str(i) for i in range(100)]
    assert max_rows(random_bigram(words, 1), SamplingConfig()) == 1024
    model = random_bigram(["a"], 1)
    model.tokenizer = ToyTokenizer([str(i) for i in range(1 << 15)])
    assert max_rows(model, SamplingConfig(top_k=5)) == 255


@pytest.mark.parametrize(
    "settings",
    [
        {"temperature": -0.1},
        {"temperature": float("nan")},
        {"temperature": float("inf")},
        {"top_k": -1},
        {"top_p": 0.0},
        {"top_p": 1.5},
        {"max_tokens": -1},
        {"seed": -1},
    ],
)
def test_senseless_settings_name_their_flag(settings: dict[str, float]) -> None:
    flag = "--" + next(iter(settings)).replace("_", "-")
    with pytest.raises(UserError, match=flag):
        SamplingConfig(**settings)  # type: ignore[arg-type]


@pytest.mark.parametrize("size", [1, 7, 250, 999, 1000])
def test_largest_are_those_of_a_stable_sort(size: int) -> None:
    rng = np.random.default_rng(size)
    logprobs = _log(rng.integers(0, 50, size=(20, 1000)) / 50.0)
    config = SamplingConfig(top_k=size, top_p=1.0)
    uniforms = np.zeros(20)  # draw the first that is kept: the likeliest, of equal ones the first
    expected = logprobs.argmax(axis=1).tolist()
    assert choose_filtered(logprobs, uniforms, config).tolist() == (
        expected if size < 1000 else (logprobs > -np.inf).argmax(axis=1).tolist()
    )
    last = choose_filtered(logprobs, np.full(20, np.nextafter(1.0, 0.0)), config)
    order = np.argsort(-logprobs, axis=1, kind="stable")
    possible = np.minimum(size, np.count_nonzero(logprobs > -np.inf, axis=1))
    if size < 1000:
        assert last.tolist() == order[np.arange(20), possible - 1].tolist()
