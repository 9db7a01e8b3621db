"""Animals and what they are like, for maps that should sort them by kind."""

import numpy as np
from numpy.typing import NDArray

BIRDS = ("sparrow", "pigeon", "gull", "swan", "owl", "falcon", "buzzard")
HUNTERS = ("weasel", "fox", "lynx", "wolf", "leopard")
GRAZERS = ("goat", "sheep", "deer", "donkey", "buffalo")
ANIMALS = (*BIRDS, *HUNTERS, *GRAZERS)

ATTRIBUTES = {
    "small": "sparrow pigeon gull owl falcon weasel",
    "middling": "swan buzzard fox lynx goat sheep",
    "large": "wolf leopard deer donkey buffalo",
    "two legs": "sparrow pigeon gull swan owl falcon buzzard",
    "four legs": "weasel fox lynx wolf leopard goat sheep deer donkey buffalo",
    "feathers": "sparrow pigeon gull swan owl falcon buzzard",
    "fur": "weasel fox lynx wolf leopard goat deer donkey buffalo",
    "wool": "sheep",
    "hooves": "goat sheep deer donkey buffalo",
    "horns": "goat sheep deer buffalo",
    "mane": "donkey",
    "claws": "owl falcon buzzard weasel fox lynx wolf leopard",
    "hunts": "gull owl falcon buzzard weasel fox lynx wolf leopard",
    "grazes": "swan goat sheep deer donkey buffalo",
    "runs": "fox lynx wolf leopard deer donkey",
    "flies": "sparrow pigeon gull swan owl falcon buzzard",
    "swims": "gull swan",
    "night": "owl weasel fox lynx",
}
SYMBOL = 0.2
"""How much the name of an animal weighs beside what it is like; Ritter and Kohonen's choice."""


def attributes() -> NDArray[np.float32]:
    """Return what each animal is like, scaled to length 1, as [N, A]."""
    table = [[animal in having.split() for having in ATTRIBUTES.values()] for animal in ANIMALS]
    rows = np.array(table, dtype=np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def inputs() -> NDArray[np.float32]:
    """Return a name of its own and the attributes of each animal, as [N, N + A]."""
    return np.hstack([SYMBOL * np.eye(len(ANIMALS), dtype=np.float32), attributes()])
