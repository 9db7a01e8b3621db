"""Networks as language models: windows, steps, files."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
import torch

from lmkit.errors import ModelError, UserError
from lmkit.language_model import BOS, EOS, Ids, Mode
from lmkit.models.architectures import Blueprint, build_network
from lmkit.models.causal import CausalModel
from lmkit.models.saving import save_network
from lmkit.store.artifact import ArtifactWriter, open_artifact
from lmkit.tasks.families import FAMILIES, family_class
from lmkit.text.byte_tokenizer import ByteTokenizer

V = ByteTokenizer().num_tokens
SHAPES: dict[str, dict[str, Any]] = {
    "gpt": {"num_layers": 1, "num_heads": 2, "num_features": 8, "context_size": 9},
    "nplm": {"embedding_size": 6, "hidden_size": 7, "order": 4},
    "rnn": {"embedding_size": 6, "hidden_size": 7},
    "gru": {"embedding_size": 6, "hidden_size": 7},
    "lstm": {"embedding_size": 6, "hidden_size": 7},
}
every_arch = pytest.mark.parametrize("arch", SHAPES)


def model_class(arch: str) -> type[CausalModel]:
    assert arch in FAMILIES
    return cast("type[CausalModel]", family_class(arch))


def blueprint(arch: str, mode: Mode) -> Blueprint:
    never = [BOS] if mode == "sentence" else [BOS, EOS]
    return Blueprint(arch=arch, settings={**SHAPES[arch], "num_tokens": V, "never": never})


def make(arch: str, mode: Mode = "document") -> CausalModel:
    torch.manual_seed(1)
    network = build_network(blueprint(arch, mode)).double()
    with torch.no_grad():
        for weight in network.parameters():
            weight.normal_(0.0, 0.5)
    return model_class(arch)(network, ByteTokenizer(), mode)


def random_ids(size: int, ends: float = 0.0) -> Ids:
    rng = np.random.default_rng(1)
    ids = rng.integers(3, V, size).astype(np.uint32)
    ids[rng.random(size) < ends] = EOS
    return ids


def stepped(model: CausalModel, ids: Ids) -> list[float]:
    state, logprobs = model.start(1), []
    for index in ids:
        logprobs.append(model.next_from(state)[0, index])
        state = model.advance(state, np.array([index], dtype=np.uint32))
    return logprobs


@every_arch
def test_a_text_longer_than_the_window(arch: str) -> None:
    model, ids = make(arch), random_ids(50)
    assert model.logprobs(ids) == pytest.approx(stepped(model, ids), abs=1e-9)


@every_arch
def test_sentences_of_all_lengths(arch: str) -> None:
    model, ids = make(arch, "sentence"), random_ids(80, ends=0.1)
    assert model.logprobs(ids) == pytest.approx(stepped(model, ids), abs=1e-9)
    ends = (np.flatnonzero(ids == EOS) + 1).tolist()
    parts = [model.logprobs(part) for part in np.split(ids, ends)]
    assert model.batch_logprobs(ids) == pytest.approx(np.concatenate(parts), abs=1e-9)


@every_arch
def test_breaks_are_not_predicted(arch: str) -> None:
    model, ids = make(arch), random_ids(40, ends=0.1)
    logprobs = model.logprobs(ids)
    assert np.all(logprobs[ids == EOS] == 0.0)
    assert np.all(np.isfinite(logprobs))
    assert np.exp(model.next_logprobs(ids[:7])).sum() == pytest.approx(1.0, abs=1e-9)
    assert model.next_logprobs(ids[:7])[EOS] == -np.inf


@every_arch
def test_the_context_is_what_comes_before(arch: str) -> None:
    model, ids = make(arch), random_ids(9)
    rest = model.batch_logprobs(ids[5:], context=ids[:5])
    if model.window is None:
        assert rest == pytest.approx(model.logprobs(ids)[5:], abs=1e-9)
    else:
        near = ids[5 - -(-model.window // 2) :]
        assert rest == pytest.approx(model.logprobs(near)[-4:], abs=1e-9)


@every_arch
def test_sequences_that_end_at_different_times(arch: str) -> None:
    model = make(arch, "sentence")
    columns = np.array([[5, 6, EOS, 7], [5, EOS, 9, 8], [EOS, 4, 4, 4]], dtype=np.uint32)
    state = model.start(3)
    for tokens in columns.T:
        state = model.advance(state, tokens)
    alone = [model.next_logprobs(row) for row in columns]
    assert np.allclose(model.next_from(state)[:, 2:], np.stack(alone)[:, 2:], atol=1e-9)
    order = np.array([2, 0, 1, 0])
    moved = model.reorder(state, order)
    assert np.allclose(model.next_from(moved)[:, 2:], np.stack(alone)[order][:, 2:], atol=1e-9)


def save(arch: str, path: Path) -> CausalModel:
    torch.manual_seed(1)
    plan = blueprint(arch, "document")
    network = build_network(plan)
    with ArtifactWriter(path) as writer:
        save_network(writer, network, plan, ByteTokenizer(), "document")
    return model_class(arch)(network, ByteTokenizer(), "document")


def reopen(path: Path) -> CausalModel:
    artifact = open_artifact(path)
    model = model_class(artifact.family)
    return model.open(artifact, lambda _: pytest.fail("it has no parts"))


@every_arch
def test_a_saved_model_comes_back(arch: str, tmp_path: Path) -> None:
    model = save(arch, tmp_path / "model")
    again = reopen(tmp_path / "model")
    ids = random_ids(30)
    assert again.family == arch
    assert np.array_equal(model.logprobs(ids), again.logprobs(ids))


def test_tied_weights_are_stored_once(tmp_path: Path) -> None:
    settings = {**SHAPES["gpt"], "num_tokens": V, "tied": True}
    plan = Blueprint(arch="gpt", settings=settings)
    network = build_network(plan)
    with ArtifactWriter(tmp_path / "model") as writer:
        save_network(writer, network, plan, ByteTokenizer(), "document")
    assert "network.output.weight" not in open_artifact(tmp_path / "model").arrays
    again = reopen(tmp_path / "model").network
    assert again.num_parameters() == network.num_parameters()


def test_weights_of_another_network_are_refused(tmp_path: Path) -> None:
    plan = blueprint("gpt", "document")
    other = build_network(Blueprint(arch="gpt", settings={**plan.settings, "num_features": 16}))
    with ArtifactWriter(tmp_path / "model") as writer:
        save_network(writer, other, plan, ByteTokenizer(), "document")
    with pytest.raises(ModelError, match="have shape"):
        reopen(tmp_path / "model")


@pytest.mark.parametrize(
    ("arch", "settings", "message"),
    [
        ("gpt", {"num_layer": 2}, "num_layers"),
        ("gpd", {}, "no architecture"),
        ("lstm", {"hidden": 3}, "no setting"),
    ],
)
def test_unknown_settings_are_refused(arch: str, settings: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message):
        build_network(Blueprint(arch=arch, settings={"num_tokens": 9, **settings}))
