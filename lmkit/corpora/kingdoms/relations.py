"""The word pairs whose relation the generated corpus "kingdoms" shows, for measuring.

None of them is ever stated: the pairs are read off the tables that the sentences are made from.
"""

from lmkit.corpora.kingdoms import actions, folk, qualities, ranks, things, world
from lmkit.corpora.kingdoms.morphology import adverb, compare, conjugate

Pairs = list[tuple[str, str]]


def relations() -> dict[str, Pairs]:
    """Return the pairs of each relation, by the name of the section of a question file."""
    verbs = [conjugate(line.split(":")[0]) for line in actions.ACTIONS.strip().split("\n")]
    axes = [line.split("|")[:2] for line in qualities.AXES.strip().split("\n")]
    adjectives = [adjective for axis in axes for adjective in axis]
    countries = [line.split("|") for line in world.COUNTRIES.strip().split("\n")]
    nouns = [line.split(":")[0].split("/") for line in things.THINGS.strip().split("\n")]
    return {
        "gender-royalty": [(pair.male, pair.female) for pair in ranks.ROYALTY],
        "gender-kinship": [(pair.male, pair.female) for pair in ranks.KINSHIP],
        "gender-folk": [(pair.male, pair.female) for pair in folk.FOLK],
        "capital-country": [(row[1], row[0]) for row in countries],
        "country-adjective": [(row[0], row[2]) for row in countries],
        "opposite": [(axis[0], axis[1]) for axis in axes],
        "comparative": [(adjective, compare(adjective)[0]) for adjective in adjectives],
        "superlative": [(adjective, compare(adjective)[1]) for adjective in adjectives],
        "adverb": [(manner, adverb(manner)) for manner in qualities.MANNERS.split()],
        "past": [(verb.base, verb.past) for verb in verbs if verb.past != verb.base],
        "ing-past": [(verb.ing, verb.past) for verb in verbs],
        "plural": [(noun[0], noun[1]) for noun in nouns if noun[0] != noun[1]],
    }
