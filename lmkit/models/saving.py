"""Neural models on disk: a card that describes the network, and its weights beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from lmkit.errors import ModelError, UserError
from lmkit.language_model import Mode
from lmkit.models.architectures import Blueprint, build_network, describe_settings, settings_of
from lmkit.nn.network import Network
from lmkit.store.artifact import Artifact, ArtifactWriter
from lmkit.text.restore import StoredTokenizer, restore_tokenizer

PREFIX = "network."
"""What the names of the weights begin with, beside the arrays of the tokenizer."""


def save_network(
    writer: ArtifactWriter,
    network: Network,
    blueprint: Blueprint,
    tokenizer: StoredTokenizer,
    mode: Mode,
    *,
    data: Sequence[Mapping[str, Any]] = (),
    seed: int | None = None,
    metrics: Mapping[str, Any] | None = None,
    settings: Mapping[str, Any] | None = None,
) -> None:
    """Write a network and its tokenizer into a model directory.

    Args:
        writer: of the directory.
        network: the network.
        blueprint: what it was built from.
        tokenizer: turns text into its ids.
        mode: how it takes text.
        data: the texts it was trained on.
        seed: of its training.
        metrics: figures worth keeping.
        settings: the settings of the run.
    """
    arrays = {**tokenizer.arrays(), **weights_of(network)}
    header_block = 4096 * (4 + len(arrays) // 16)
    with writer.add_tensors(header_block=header_block) as tensors:
        for name, array in arrays.items():
            tensors.append(name, array)
    for name, content in tokenizer.files().items():
        with writer.add_file(name) as file:
            file.write(content)
    shape = describe_settings(settings_of(blueprint.arch, blueprint.settings))
    writer.describe(
        family=blueprint.arch,
        config={"network": shape, "mode": mode},
        tokenizer={"spec": tokenizer.spec(), "fingerprint": tokenizer.fingerprint()},
        data=data,
        seed=seed,
        metrics=metrics,
        settings=settings,
    )


def weights_of(network: Network) -> dict[str, NDArray[Any]]:
    """Return the weights of a network by name; tied ones once."""
    seen: set[int] = set()
    arrays = {}
    for name, tensor in network.state_dict(keep_vars=True).items():
        if id(tensor) not in seen:
            seen.add(id(tensor))
            arrays[PREFIX + name] = tensor.detach().cpu().numpy()
    return arrays


def open_network(artifact: Artifact) -> tuple[Network, StoredTokenizer]:
    """Return the network and the tokenizer of an opened model directory.

    Raises:
        ModelError: its arrays are not those of the network that its card describes.
    """
    config = artifact.config
    try:
        network = build_network(Blueprint(arch=artifact.family, settings=config["network"]))
    except UserError as error:
        raise ModelError(f"{artifact.path}: {error.what}", error.hint) from error
    stored = {
        name.removeprefix(PREFIX): array
        for name, array in artifact.arrays.items()
        if name.startswith(PREFIX)
    }
    load_weights(network, stored, str(artifact.path))
    spec = artifact.tokenizer["spec"]
    return network, restore_tokenizer(spec, artifact.arrays, artifact.path)


def load_weights(network: Network, stored: Mapping[str, NDArray[Any]], where: str) -> None:
    """Copy ``stored`` into the weights of ``network``.

    Raises:
        ModelError: names or shapes differ.
    """
    left = dict(stored)
    seen: set[int] = set()
    for name, tensor in network.state_dict(keep_vars=True).items():
        if id(tensor) in seen:
            continue
        seen.add(id(tensor))
        array = left.pop(name, None)
        if array is None:
            raise ModelError(f"{where} is damaged: it has no weights {name}")
        if tuple(array.shape) != tuple(tensor.shape):
            shapes = f"{list(array.shape)} instead of {list(tensor.shape)}"
            raise ModelError(f"{where} is damaged: the weights {name} have shape {shapes}")
        with torch.no_grad():
            tensor.copy_(torch.from_numpy(np.array(array)))
    if left:
        raise ModelError(f"{where} is damaged: it has weights {min(left)} that no network takes")
