"""The word pairs whose relation the generated corpus "kingdoms" shows, for measuring.

None of them is ever stated: the pairs are read off the tables that the sentences are made from.
"""

from collections.abc import Iterator

from lmkit.corpora.kingdoms import actions, folk, qualities, ranks, things, world
from lmkit.corpora.kingdoms.morphology import adverb, compare, conjugate

Pairs = list[tuple[str, str]]

QUESTIONS_PER_PAIR = 10
"""Pairs of its section that a pair is asked about with, at most."""


def relations() -> dict[str, Pairs]:
    """Return the pairs of each relation, by the name of the section of a question file.

    Names of grammatical relations begin with ``gram``, as in the file questions-words.
    """
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
        "gram-country-adjective": [(row[0], row[2]) for row in countries],
        "opposite": [(axis[0], axis[1]) for axis in axes],
        "gram-comparative": [(adjective, compare(adjective)[0]) for adjective in adjectives],
        "gram-superlative": [(adjective, compare(adjective)[1]) for adjective in adjectives],
        "gram-adverb": [(manner, adverb(manner)) for manner in qualities.MANNERS.split()],
        "gram-past": [(verb.base, verb.past) for verb in verbs if verb.past != verb.base],
        "gram-ing-past": [(verb.ing, verb.past) for verb in verbs],
        "gram-plural": [(noun[0], noun[1]) for noun in nouns if noun[0] != noun[1]],
    }


def questions() -> Iterator[str]:
    """Yield the lines of a question file: ``: section``, then questions A B C D, as A : B = C : D.

    Each pair is asked about with the next ones of its section, going round at the end. No line of
    the corpora holds the four words of a question.
    """
    for section, pairs in relations().items():
        yield f": {section}"
        for number, pair in enumerate(pairs):
            for step in range(1, min(QUESTIONS_PER_PAIR, len(pairs) - 1) + 1):
                yield " ".join((*pair, *pairs[(number + step) % len(pairs)]))
