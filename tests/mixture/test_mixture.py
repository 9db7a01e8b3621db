"""Mixtures are language models: they sum to 1, step as they score, and live on disk."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from toy import BigramTable, ToyTokenizer, random_bigram

from lmkit.decode.sample import Request, SamplingConfig, draw_samples
from lmkit.errors import ModelError
from lmkit.language_model import BOS, EOS, Mode
from lmkit.mixture.model import MixtureModel
from lmkit.store.artifact import open_artifact

FIRST, SECOND = ["a", "b", "c"], ["c", "d", "a", "e", "f"]


def same_vocabulary(mode: Mode = "sentence") -> MixtureModel:
    parts = [random_bigram(FIRST, seed, mode) for seed in (1, 2, 3)]
    return MixtureModel(parts, [0.5, 0.2, 0.3])


def united(mode: Mode = "sentence") -> MixtureModel:
    parts = [random_bigram(words, 4, mode, on_disk=True) for words in (FIRST, SECOND)]
    return MixtureModel(parts, [0.6, 0.4])


MIXTURES = [
    pytest.param(make, mode, id=f"{make.__name__}-{mode}")
    for make in (same_vocabulary, united)
    for mode in ("sentence", "document")
]


def test_logprobs_are_the_weighted_sum() -> None:
    mixture = same_vocabulary()
    ids = np.array([3, 4, 0, 5, 2, 5, 2], dtype=np.uint32)
    parts = [np.exp(part.logprobs(ids)) for part in mixture.parts]
    by_hand = 0.5 * parts[0] + 0.2 * parts[1] + 0.3 * parts[2]
    assert np.exp(mixture.logprobs(ids)) == pytest.approx(by_hand, rel=1e-14)


def test_words_of_all_parts_are_known() -> None:
    mixture = united()
    names = [mixture.tokenizer.token(i) for i in range(mixture.tokenizer.num_tokens)]
    assert names == ["<unk>", "<s>", "</s>", "a", "b", "c", "d", "e", "f"]
    # To the first part d, e, f and <unk> are one unknown word; to the second b and <unk> are.
    assert mixture.vocabularies[0].ids.tolist() == [0, 1, 2, 3, 4, 5, 0, 0, 0]  # type: ignore[union-attr]
    first, second = (np.exp(part.next_logprobs(mixture.start(1)[0][:0])) for part in mixture.parts)
    mixed = np.exp(mixture.next_logprobs(np.empty(0, dtype=np.uint32)))
    assert mixed[7] == pytest.approx(0.6 * first[0] / 4 + 0.4 * second[6])
    assert mixed[4] == pytest.approx(0.6 * first[4] + 0.4 * second[0] / 2)
    assert mixed[0] == pytest.approx(0.6 * first[0] / 4 + 0.4 * second[0] / 2)
    assert mixed[3] == pytest.approx(0.6 * first[3] + 0.4 * second[5])


@pytest.mark.parametrize(("make", "mode"), MIXTURES)
@given(context=st.lists(st.sampled_from([0, 3, 4, 5]), max_size=4))
def test_probabilities_sum_to_one(make: "type", mode: Mode, context: list[int]) -> None:
    logprobs = make(mode).next_logprobs(np.array(context, dtype=np.uint32))
    assert np.exp(logprobs).sum() == pytest.approx(1.0, abs=1e-12)
    assert logprobs[BOS] == -np.inf


@pytest.mark.parametrize(("make", "mode"), MIXTURES)
def test_step_by_step_is_the_whole(make: "type", mode: Mode) -> None:
    mixture = make(mode)
    ids = np.array([3, 4, 0, 5, 5], dtype=np.uint32)
    whole = mixture.logprobs(ids)
    state = mixture.reorder(mixture.start(3), np.array([2, 0]))
    for place, token in enumerate(ids):
        following = mixture.next_from(state)
        assert following[:, token] == pytest.approx([whole[place]] * 2, rel=1e-13)
        assert following[1] == pytest.approx(mixture.next_logprobs(ids[:place]), rel=1e-13)
        state = mixture.advance(state, np.array([token, token], dtype=np.uint32))
    assert mixture.batch_logprobs(ids[3:], context=ids[:3]) == pytest.approx(whole[3:])


def test_breaks_cost_nothing() -> None:
    ids = np.array([3, 2, 4], dtype=np.uint32)
    for make in (same_vocabulary, united):
        assert make("document").logprobs(ids)[1] == 0.0


@pytest.mark.parametrize(("make", "mode"), MIXTURES)
def test_samples_follow_the_mixture(make: "type", mode: Mode) -> None:
    mixture = make(mode)
    nothing = np.empty(0, dtype=np.uint32)
    requests = [Request(nothing, (i,)) for i in range(20_000)]
    drawn = [ids[0] for ids in draw_samples(mixture, requests, SamplingConfig(max_tokens=1))]
    expected = np.exp(mixture.next_logprobs(nothing)) * len(drawn)
    seen = np.bincount(drawn, minlength=len(expected))
    possible = expected > 0
    assert seen[~possible].sum() == 0
    statistic = ((seen - expected)[possible] ** 2 / expected[possible]).sum()
    assert statistic < 26.2  # the 0.999 quantile of chi-square(8); there are 3 to 7 here


def test_a_part_without_weight_is_never_drawn_from() -> None:
    rows = {"first": [0, 0, 0, 1.0, 0], "second": [0, 0, 0, 0, 1.0]}
    parts = [
        BigramTable(ToyTokenizer(["a", "b"]), np.tile(np.array(row), (5, 1)), "document")
        for row in rows.values()
    ]
    uniforms = np.array([0.0, 0.5, np.nextafter(1.0, 0.0)])
    for weights, word in (([1.0, 0.0], 3), ([0.0, 1.0], 4)):
        mixture = MixtureModel(parts, weights)
        assert mixture.draw(mixture.start(3), uniforms).tolist() == [word] * 3
        logprobs = mixture.next_logprobs(np.empty(0, dtype=np.uint32))
        assert np.exp(logprobs)[word] == 1.0


@pytest.mark.parametrize("make", [same_vocabulary, united])
def test_a_mixture_can_be_mixed(make: "type") -> None:
    mixture = make()
    again = MixtureModel([mixture, mixture.with_weights(np.ones(len(mixture.parts)))])
    assert np.exp(again.next_logprobs(np.array([3], dtype=np.uint32))).sum() == pytest.approx(1.0)


def test_models_that_do_not_fit_are_refused() -> None:
    model = random_bigram(FIRST, 1)
    with pytest.raises(ModelError, match="sentence mode, model 2 in document mode"):
        MixtureModel([model, random_bigram(FIRST, 1, "document")])
    letters = random_bigram(FIRST, 1)
    letters.tokenizer = ToyTokenizer(FIRST, unit="char")
    with pytest.raises(ModelError, match="word units, model 2 char units"):
        MixtureModel([model, letters])
    other = random_bigram(["x", "y", "z"], 1)
    other.tokenizer = ToyTokenizer(["x", "y", "z"], unit="char")
    with pytest.raises(ModelError, match="different char vocabularies"):
        MixtureModel([letters, other])


def saved(tmp_path: Path, words: list[list[str]]) -> tuple[MixtureModel, list[Path]]:
    models = [random_bigram(own, seed, on_disk=True) for seed, own in enumerate(words)]
    paths = [tmp_path / f"part-{seed}" for seed in range(len(models))]
    for model, path in zip(models, paths, strict=True):
        model.save(path)
    return MixtureModel(models, [0.3, 0.7]), paths


def reopened(path: Path) -> MixtureModel:
    def open_model(part: Path) -> MixtureModel | BigramTable:
        artifact = open_artifact(part)
        family = MixtureModel if artifact.family == "mixture" else BigramTable
        return family.open(artifact, open_model)

    model = open_model(path)
    assert isinstance(model, MixtureModel)
    return model


@pytest.mark.parametrize("words", [[FIRST, FIRST], [FIRST, SECOND]])
def test_saved_and_opened_it_is_the_same(words: list[list[str]], tmp_path: Path) -> None:
    mixture, paths = saved(tmp_path, words)
    mixture.save(tmp_path / "mixture", paths)
    for path in paths:
        path.rename(path.with_name("moved-" + path.name))  # the mixture stands alone
    opened = reopened(tmp_path / "mixture")
    assert opened.tokenizer.fingerprint() == mixture.tokenizer.fingerprint()
    assert opened.weights.tolist() == mixture.weights.tolist()
    ids = opened.tokenizer.encode("a d </s> c zebra b")
    assert opened.logprobs(ids).tolist() == mixture.logprobs(ids).tolist()


def test_files_of_the_parts_are_not_copied(tmp_path: Path) -> None:
    mixture, paths = saved(tmp_path, [FIRST, FIRST])
    mixture.save(tmp_path / "mixture", paths)
    inside = tmp_path / "mixture" / "parts" / "1" / "weights.safetensors"
    assert inside.samefile(paths[1] / "weights.safetensors")


def test_a_saved_mixture_can_be_a_part(tmp_path: Path) -> None:
    mixture, paths = saved(tmp_path, [FIRST, SECOND])
    inner = tmp_path / "inner"
    mixture.save(inner, paths)
    outer = MixtureModel([mixture, mixture.parts[1]])
    outer.save(tmp_path / "outer", [inner, paths[1]])
    ids = np.array([3, 8, 2], dtype=np.uint32)
    assert reopened(tmp_path / "outer").logprobs(ids).tolist() == outer.logprobs(ids).tolist()


@pytest.mark.parametrize("harm", ["remove", "replace", "cut"])
def test_a_damaged_part_is_refused(harm: str, tmp_path: Path) -> None:
    mixture, paths = saved(tmp_path, [FIRST, FIRST])
    mixture.save(tmp_path / "mixture", paths)
    part = tmp_path / "mixture" / "parts" / "1"
    if harm == "remove":
        part.rename(tmp_path / "elsewhere")
    elif harm == "replace":
        part.rename(tmp_path / "elsewhere")
        random_bigram(FIRST, 9, on_disk=True).save(part)
    else:
        weights = part / "weights.safetensors"
        data = weights.read_bytes()
        weights.unlink()
        weights.write_bytes(data[:-1])
    with pytest.raises(ModelError, match="damaged"):
        reopened(tmp_path / "mixture")


def test_end_of_sentence_restarts_all_parts() -> None:
    mixture = united()
    twice = mixture.logprobs(np.array([3, EOS, 3, EOS], dtype=np.uint32))
    assert twice[:2].tolist() == twice[2:].tolist()
