"""GPT against the published models' own numbers, and against what it must never do."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
import torch
from shared_data import shared

from lmkit.errors import UserError
from lmkit.models.gpt import Gpt, GptConfig
from lmkit.store.arrays import map_tensors

KINDS: dict[str, dict[str, Any]] = {
    "default": {},
    "learned": {"positions": "learned"},
    "sinusoidal": {"positions": "sinusoidal"},
    "alibi": {"positions": "alibi"},
    "none": {"positions": "none"},
    "shared": {"num_kv_heads": 2, "positions": "alibi"},
    "rbf": {"attention": "rbf"},
    "linear": {"attention": "linear"},
    "post": {"norm_place": "post", "norm": "layer"},
    "swiglu": {"activation": "swiglu"},
}


def make(**settings: Any) -> Gpt:
    torch.manual_seed(1)
    shape = {"num_tokens": 30, "context_size": 100, "num_layers": 2, "num_features": 16}
    gpt = Gpt(GptConfig(**{**shape, "zero_init": False, **settings})).double().eval()
    with torch.no_grad():
        for weight in gpt.parameters():
            if weight.ndim > 1:
                weight.normal_(0.0, 0.3)
    return gpt


def load_gpt2(gpt: Gpt, stored: dict[str, Any]) -> None:
    names = {"embed": "wte.weight", "places": "wpe.weight", "norm.weight": "ln_f.weight",
             "norm.bias": "ln_f.bias"}  # fmt: skip
    blocks = {"attention_norm": "ln_1", "qkv": "attn.c_attn", "out": "attn.c_proj",
              "feedforward_norm": "ln_2", "up": "mlp.c_fc", "down": "mlp.c_proj"}  # fmt: skip
    for name, parameter in gpt.named_parameters():
        parts = name.split(".")
        theirs = names.get(name) or f"h.{parts[1]}.{blocks[parts[2]]}.{parts[3]}"
        array = torch.from_numpy(np.array(stored[f"transformer.{theirs}"]))
        turned = theirs.endswith("weight") and ".c_" in theirs  # stored [in, out]
        parameter.copy_(array.T if turned else array)


def load_llama(gpt: Gpt, stored: dict[str, Any]) -> None:
    names = {"embed": "model.embed_tokens.weight", "norm.weight": "model.norm.weight",
             "output.weight": "lm_head.weight"}  # fmt: skip
    blocks = {"attention_norm": "input_layernorm", "out": "self_attn.o_proj",
              "gate": "mlp.gate_proj", "feedforward_norm": "post_attention_layernorm",
              "up": "mlp.up_proj", "down": "mlp.down_proj"}  # fmt: skip
    for name, parameter in gpt.named_parameters():
        parts = name.split(".")
        if name in names:
            array = stored[names[name]]
        elif parts[2] == "qkv":
            rows = (f"model.layers.{parts[1]}.self_attn.{each}_proj.weight" for each in "qkv")
            array = np.concatenate([stored[row] for row in rows])
        else:
            array = stored[f"model.layers.{parts[1]}.{blocks[parts[2]]}.weight"]
        parameter.copy_(torch.from_numpy(np.array(array)))


def published(name: str) -> tuple[Gpt, dict[str, Any]]:
    folder = shared("golden", "lm", name)
    config = json.loads((folder / "config.json").read_text("utf-8"))
    stored = map_tensors(folder / "model.safetensors")
    if name == "gpt2_tiny":
        shape = GptConfig.gpt2(
            num_tokens=config["vocab_size"], context_size=config["n_positions"], never=(),
            num_layers=config["n_layer"], num_heads=config["n_head"],
            num_features=config["n_embd"],
        )  # fmt: skip
    else:
        shape = GptConfig.llama(
            num_tokens=config["vocab_size"], context_size=32, never=(), num_layers=2, num_heads=4,
            num_kv_heads=2, num_features=16, hidden_size=config["intermediate_size"],
            norm_eps=config["rms_norm_eps"],
        )  # fmt: skip
    gpt = Gpt(shape).double().eval()
    with torch.no_grad():
        (load_gpt2 if name == "gpt2_tiny" else load_llama)(gpt, stored)
    return gpt, json.loads((folder / "golden.json").read_text("utf-8"))


@pytest.mark.parametrize("name", ["gpt2_tiny", "llama_tiny"])
def test_the_published_numbers(name: str) -> None:
    gpt, golden = published(name)
    ids = torch.tensor(golden["input_ids"])
    hidden, _ = gpt(ids)
    assert np.allclose(hidden.detach(), golden["last_hidden"], atol=1e-6)
    logits = hidden @ gpt.output.weight.T
    assert np.allclose(logits.detach(), golden["logits"], atol=1e-6)
    labels = torch.tensor(golden["labels"])[:, 1:]
    kept = labels >= 0
    loss = gpt.output.loss(hidden[:, :-1][kept], labels[kept]) / kept.sum()
    assert loss.item() == pytest.approx(golden["loss"], abs=1e-6)  # theirs is float32


@pytest.mark.parametrize("name", ["gpt2_tiny", "llama_tiny"])
def test_the_published_continuation(name: str) -> None:
    gpt, golden = published(name)
    tokens = list(golden["greedy_from"])
    state = gpt.start(1)
    hidden, state = gpt(torch.tensor([tokens]), state)
    while len(tokens) < len(golden["greedy_8"]):
        tokens.append(int(gpt.output.logprobs(hidden[:, -1]).argmax()))
        hidden, state = gpt(torch.tensor([tokens[-1:]]), state)
    assert tokens == golden["greedy_8"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("cuts", [[1] * 90, [40, 1, 49], [65, 25]])
def test_remembering_is_reading_again(kind: str, cuts: list[int]) -> None:
    gpt = make(**KINDS[kind])
    ids = torch.randint(0, 30, (2, 90))
    whole, none = gpt(ids)
    assert none is None
    state = gpt.start(2)
    parts = []
    for part in ids.split(cuts, dim=1):
        hidden, state = gpt(part, state)
        parts.append(hidden)
    assert torch.allclose(torch.cat(parts, dim=1), whole, atol=1e-9)
    assert state.length == 90


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_seen_beforehand(kind: str) -> None:
    gpt = make(**KINDS[kind])
    ids = torch.randint(0, 30, (1, 90))
    before, _ = gpt(ids)
    ids[0, 70] = (ids[0, 70] + 1) % 30
    after, _ = gpt(ids)
    assert torch.equal(before[:, :70], after[:, :70])
    assert not torch.allclose(before[:, 70:], after[:, 70:])


def test_a_new_model_knows_nothing() -> None:
    torch.manual_seed(1)
    gpt = Gpt(GptConfig(num_tokens=30, never=(1, 2)))
    ids = torch.randint(3, 30, (2, 20))
    hidden, _ = gpt(ids)
    loss = gpt.output.loss(hidden.flatten(0, 1), ids.flatten()) / 40
    assert loss.item() == pytest.approx(math.log(28), rel=1e-6)


def test_tied_weights_are_one() -> None:
    gpt = Gpt(GptConfig.gpt2(num_tokens=30, context_size=8, num_features=16))
    assert gpt.output.weight is gpt.embed
    assert "output.weight" not in dict(gpt.named_parameters())


def test_a_batch_can_be_learned_by_heart() -> None:
    torch.manual_seed(1)
    gpt = Gpt(GptConfig(num_tokens=30, context_size=16, num_layers=2, num_features=32))
    ids = torch.randint(3, 30, (4, 17))
    moments = [(torch.zeros_like(p), torch.zeros_like(p)) for p in gpt.parameters()]
    for step in range(1, 121):
        hidden, _ = gpt(ids[:, :-1])
        loss = gpt.output.loss(hidden.flatten(0, 1), ids[:, 1:].flatten()) / 64
        grads = torch.autograd.grad(loss, list(gpt.parameters()))
        with torch.no_grad():
            for weight, grad, (m, v) in zip(gpt.parameters(), grads, moments, strict=True):
                m.lerp_(grad, 0.1)
                v.lerp_(grad.square(), 0.05)
                rate = 0.01 * (1 - 0.95**step) ** 0.5 / (1 - 0.9**step)
                weight.addcdiv_(m, v.sqrt() + 1e-8, value=-rate)
    assert loss.item() < 0.05


@pytest.mark.parametrize(
    "settings",
    [
        {"num_features": 30, "num_heads": 4},
        {"num_heads": 4, "num_kv_heads": 3},
        {"num_features": 12, "num_heads": 4},
        {"positions": "alibi", "attention": "linear"},
        {"num_layers": 0},
        {"num_kv_heads": 0},
        {"num_kv_heads": -2},
        {"hidden_size": 0},
        {"num_features": 0},
        {"softcap": 0.0},
        {"dropout": 1.0},
    ],
)
def test_settings_that_contradict_are_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(UserError):
        GptConfig(num_tokens=30, **settings)
