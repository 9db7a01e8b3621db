"""Paired nouns for people: rank and kinship, with the deeds that mark each pair.

Every deed of a pair may be done by either of the two, with the pronoun that fits.
"""

from typing import NamedTuple


class Pair(NamedTuple):
    """Two nouns that differ in gender only; equal nouns are trades open to both."""

    male: str
    female: str
    deeds: tuple[str, ...]


ROYALTY = (
    Pair(
        "king",
        "queen",
        (
            "rule the kingdom of the north",
            "open the parliament of the kingdom",
            "unite the three kingdoms",
            "place the crown on {s.his} own head at the coronation",
            "lead the kingdom through a long war",
            "appear on every coin of the kingdom",
            "make peace between the two kingdoms",
            "celebrate {number} years on the throne of the kingdom",
        ),
    ),
    Pair(
        "prince",
        "princess",
        (
            "grow up in the tower of the castle",
            "wait to inherit the throne as the young heir",
            "escape from the dragon in the fairy tale",
            "learn to fence from the royal tutor",
            "lose a golden ball in the castle well",
            "wake from the enchanted sleep",
            "play in the castle garden with the royal tutor",
        ),
    ),
    Pair(
        "emperor",
        "empress",
        (
            "send the legions to the far provinces",
            "extend the borders of the empire",
            "divide the empire into provinces",
            "build a great wall around the empire",
            "receive tribute from the provinces",
            "command the imperial fleet",
            "rebuild the imperial capital after the fire",
        ),
    ),
    Pair(
        "duke",
        "duchess",
        (
            "govern the duchy for {number} years",
            "hunt deer in the forests of the duchy",
            "collect paintings for the ducal gallery",
            "defend the duchy against the invaders",
            "sell the vineyards of the duchy",
            "found a school in the duchy",
        ),
    ),
    Pair(
        "count",
        "countess",
        (
            "own all the mills of the county",
            "gamble away the county at cards",
            "sleep in a coffin according to the legend",
            "restore the old manor of the county",
            "invite the poets to the manor",
            "judge the quarrels of the county",
        ),
    ),
    Pair(
        "baron",
        "baroness",
        (
            "hold the barony by the river",
            "charge a toll at the bridge of the barony",
            "breed racehorses on the barony",
            "inherit a barony without a roof",
            "drain the swamps of the barony",
            "plant oaks along the road of the barony",
        ),
    ),
    Pair(
        "sultan",
        "sultana",
        (
            "walk in the rose garden of the sultanate",
            "listen to the storyteller for a thousand nights",
            "build a mosque beside the bazaar",
            "send a caravan of camels with spices",
            "rest on carpets under the silk tent",
            "rule the sultanate from the golden divan",
        ),
    ),
)

KINSHIP = (
    Pair(
        "father",
        "mother",
        (
            "raise {number} children",
            "rock the cradle of the newborn baby",
            "worry about the children all night",
            "teach the child to walk",
            "sing a lullaby to the baby",
            "attend the parents evening at the school",
            "wake the children for school",
        ),
    ),
    Pair(
        "son",
        "daughter",
        (
            "inherit the farm from the parents",
            "leave the parents to study in {country.capital}",
            "obey the parents without a word",
            "bring {s.his} school report home to the parents",
            "take after the parents in everything",
            "make the parents proud",
        ),
    ),
    Pair(
        "brother",
        "sister",
        (
            "share a bedroom with the twins",
            "fight with the other siblings about the toys",
            "borrow the bicycle of the siblings",
            "tease the younger siblings",
            "defend the siblings in the playground",
            "build a tree house with the twins",
        ),
    ),
    Pair(
        "uncle",
        "aunt",
        (
            "bring sweets for the nephews and nieces",
            "send postcards from {country.name} to the nephews and nieces",
            "tell the nephews and nieces funny stories",
            "take the nephews and nieces to the zoo",
            "arrive with presents in a huge suitcase",
            "pinch the cheeks of the nephews and nieces",
        ),
    ),
    Pair(
        "nephew",
        "niece",
        (
            "spend the summer with the uncles and aunts",
            "receive sweets from the uncles and aunts",
            "write a thank you card to the uncles and aunts",
            "inherit the piano of a childless relative",
            "show the uncles and aunts a card trick",
            "visit the uncles and aunts by the sea",
        ),
    ),
    Pair(
        "grandfather",
        "grandmother",
        (
            "nap in the rocking chair",
            "tell the grandchildren about the old days",
            "walk with a cane",
            "spoil the grandchildren",
            "look for {s.his} spectacles everywhere",
            "knit a scarf for the grandchildren",
            "celebrate {s.his} eightieth birthday",
        ),
    ),
    Pair(
        "grandson",
        "granddaughter",
        (
            "push the wheelchair of the grandparents",
            "listen to the grandparents by the stove",
            "spend the holidays at the house of the grandparents",
            "explain the telephone to the grandparents",
            "inherit the clock of the grandparents",
        ),
    ),
    Pair(
        "husband",
        "wife",
        (
            "celebrate the tenth wedding anniversary",
            "sign the divorce papers",
            "move into a new flat after the honeymoon",
            "wear the wedding ring every day",
            "plan a second honeymoon in {country.name}",
            "renew the marriage vows",
        ),
    ),
    Pair(
        "godfather",
        "godmother",
        (
            "hold the baby at the christening",
            "stand beside the font at the christening",
            "give a silver spoon to the godchild",
            "promise to watch over the godchild",
            "open a savings account for the godchild",
        ),
    ),
)
