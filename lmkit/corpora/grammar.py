"""The generated corpus "kingdoms": a seeded grammar of English with plenty of word relations.

Each sentence belongs to a topic: a kind of people (royalty, kin, folk, trades), countries,
comparison, manners, tense or number. Relations between words are never stated as analogies; they
show only in the company that words keep. Words of one gender share the deeds of that gender and
its pronouns, words of one rank share the deeds of that rank, and the two are drawn independently,
so king is to man as queen is to woman by context alone. A royal word and its partner of the other
gender never stand in the same line.

Lines are lower-case tokens separated by single spaces, 5 to 25 tokens, from a pure-Python
generator seeded with `random.Random`, whose `random()` is the same on every platform.
"""

import random
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import islice

from lmkit.corpora.kingdoms import actions, folk, people, qualities, ranks, things, world
from lmkit.corpora.kingdoms.morphology import adverb, article, compare, conjugate, plural
from lmkit.corpora.patterns import Choice, Pattern, Row, Source, Table, Uniform, Words

MIN_TOKENS, MAX_TOKENS = 5, 25
DEFAULT_SEED = 1

SUBJECT = ("n", "a", "he", "him", "his", "himself")
PERSON = ("name", "he", "him", "his", "himself")
VERB = ("base", "s", "past", "participle", "ing")
QUALITY = (
    "adj", "er", "est", "a", "a_er", "opp", "opp_a", "opp_est", "x", "y", "xs", "like",
)  # fmt: skip
THING = ("sg", "pl", "a", "a_adj", "adj", "place", *VERB)

# Sentences about people: {who} is the subject's phrase, {did}, {does}... a deed in that tense.
PEOPLE_PATTERNS = (
    "{who} {did} .",
    "{who} {did} {time} .",
    "{who} {did} and {did2} .",
    "{who} {did} , and then {s.he} {did2} .",
    "{who} {does} every day .",
    "{who} always {does} .",
    "{who} will {do} tomorrow .",
    "{who} is {doing} now .",
    "{who} was {doing} when {person.name} arrived .",
    "{who} has {done} many times .",
    "{who} had to {do} {time} .",
    "{who} wants to {do} , but {s.he} is {state} .",
    "{who} was {state} .",
    "{who} was {state} , so {s.he} {did} .",
    "{who} , who was {state} , {did} .",
    "{who} is {state} and {state2} .",
    "{name} was {s.a} who {did} .",
    "{name} is {s.a} , and {s.he} often {does} .",
    "when {who} {did} , {s.he} was {state} .",
    "after {who} {did} , {s.he} {did2} .",
    "did {who} {do} {time} ?",
    "why did {who} {do} ? {s.he} was {state} .",
    "everyone knows that {who} {did} {time} .",
    "{person.name} said that {who} never {does} .",
    '" {who} {did} , " said {person.name} .',
    '" {s.he} is {s.a} , " said {person.name} , " and {s.he} {does} . "',
    "it was {who} who {did} .",
    "{who} told {person.name} that {s.he} {did} .",
    "{who} cannot {do} without {name} .",
    "{s.he} is {s.a} who {does} .",
)

# How a subject is named, by kind.
PHRASES: Mapping[str, tuple[str, ...]] = {
    "royalty": ("the {s.n}", "the {s.n}", "the {age} {s.n}", "{s.n} {name}",
                "the {s.n} of {country.name}", "the {country.adj} {s.n}"),
    "kinship": ("my {s.n}", "our {s.n}", "{person.name} 's {s.n}", "his {s.n}", "her {s.n}",
                "the {age} {s.n}", "the {s.n} of {person.name}"),
    "folk": ("the {s.n}", "the {s.n}", "the {age} {s.n}", "{s.a} from {country.name}",
             "{s.a}", "another {s.n}"),
    "trades": ("the {s.n}", "the {s.n}", "the {age} {s.n}", "{s.a} from {country.capital}",
               "{name} the {s.n}"),
    "named": ("{name}",),
}  # fmt: skip

KINDS: Mapping[str, tuple[tuple[ranks.Pair, ...], Sequence[str], Sequence[str]]] = {
    "royalty": (ranks.ROYALTY, people.ROYAL_DEEDS, people.ROYAL_STATES),
    "kinship": (ranks.KINSHIP, people.KIN_DEEDS, people.KIN_STATES),
    "folk": (folk.FOLK, people.FOLK_DEEDS, people.FOLK_STATES),
    "trades": (folk.TRADES, people.FOLK_DEEDS, people.FOLK_STATES),
}

# Shares of the topics in the sentences; kinds of people are shared out evenly among their words.
SHARES = {
    "royalty": 4, "kinship": 3, "folk": 3, "trades": 1,
    "countries": 4, "comparison": 3, "manners": 1, "tense": 2, "number": 2,
}  # fmt: skip


def sentences(seed: int = DEFAULT_SEED) -> Iterator[str]:
    """Yield sentences without end; the same seed gives the same sentences everywhere."""
    uniform = random.Random(seed).random
    topics = _topics()
    while True:
        line = topics.draw(uniform, ())[0]
        if MIN_TOKENS <= line.count(" ") + 1 <= MAX_TOKENS:
            yield line


def generate(num_sentences: int, seed: int = DEFAULT_SEED) -> Iterator[str]:
    """Yield the first ``num_sentences`` sentences of the stream of ``seed``."""
    return islice(sentences(seed), num_sentences)


class _Topic(Pattern):
    """A pattern of the topmost kind, whose subject is drawn or fixed beforehand."""

    __slots__ = ("_choice", "_subject")

    def __init__(self, choice: Choice, subject: Row = ()) -> None:
        self._choice = choice
        self._subject = subject

    def fill(self, uniform: Uniform, subject: Row = ()) -> str:
        return self._choice.draw(uniform, self._subject)[0]


@cache
def _topics() -> Choice:
    """Build the whole grammar once."""
    scope = _common_scope()
    groups: dict[str, list[Pattern]] = {
        "countries": _compile(world.COUNTRY_PATTERNS, scope),
        "comparison": _compile(qualities.COMPARISON_PATTERNS, scope),
        "manners": _compile(qualities.ADVERB_PATTERNS, scope),
        "tense": _compile(actions.TENSE_PATTERNS, scope),
        "number": _compile(things.NUMBER_PATTERNS, scope),
    }
    for kind, (pairs, deeds, states) in KINDS.items():
        groups[kind] = [
            _person_topic(kind, pair, male, deeds, states, scope)
            for pair in pairs
            for male in (True, False)
        ]
    return Choice([(groups[topic], share) for topic, share in SHARES.items()])


def _compile(
    texts: Sequence[str], scope: Mapping[str, Source], subject: Sequence[str] = ()
) -> list[Pattern]:
    return [Pattern(text, scope, subject) for text in texts]


def _person_topic(
    kind: str,
    pair: ranks.Pair,
    male: bool,
    deeds: Sequence[str],
    states: Sequence[str],
    common: Mapping[str, Source],
) -> _Topic:
    """Return the sentences about one word for people, such as queen."""
    names = (people.MALE_NAMES.split(), people.FEMALE_NAMES.split())
    scope: dict[str, Source] = {
        **common,
        "name": Words(names[not male]),
        "other": Words(names[male]),
    }
    noun = pair.male if male else pair.female
    subject = (
        noun,
        f"{article(noun)} {noun}",
        *(people.MALE_FORMS if male else people.FEMALE_FORMS),
    )
    gender_deeds = people.MALE_DEEDS if male else people.FEMALE_DEEDS
    gender_states = people.MALE_STATES if male else people.FEMALE_STATES
    pools = ((pair.deeds, 4), (deeds, 2), (gender_deeds, 3), (people.COMMON_DEEDS, 1))
    for name, form in zip(("do", "does", "did", "done", "doing"), range(5), strict=True):
        scope[name] = Choice(
            [
                (_compile([_inflect(deed, form) for deed in pool], scope, SUBJECT), share)
                for pool, share in pools
            ]
        )
    scope["did2"] = scope["did"]
    scope["state"] = scope["state2"] = Choice(
        [
            (_compile(pool, scope, SUBJECT), share)
            for pool, share in ((states, 2), (gender_states, 2), (people.COMMON_STATES, 1))
        ]
    )
    scope["who"] = Choice([(_compile(PHRASES[kind], scope, SUBJECT), 1)])
    return _Topic(Choice([(_compile(PEOPLE_PATTERNS, scope, SUBJECT), 1)]), subject)


def _inflect(deed: str, form: int) -> str:
    """Put the first word of a deed, the base form of its verb, into another form."""
    verb, _, rest = deed.partition(" ")
    return f"{conjugate(verb)[form]} {rest}".rstrip()


def _common_scope() -> dict[str, Source]:
    """Return the sources that every topic may use."""
    scope: dict[str, Source] = {name: _phrases(text) for name, text in things.WORDS.items()}
    scope["age"] = _phrases("young,old,good,tall,rich,poor,clever")
    scope["often"] = _phrases(actions.OFTEN)
    scope["past"] = _phrases(actions.PAST)
    scope["now"] = _phrases(actions.NOW)
    scope["future"] = _phrases(actions.FUTURE)
    scope["person"] = scope["person2"] = Table(PERSON, _person_rows())
    scope["country"] = scope["other"] = Table(("a", *world.COUNTRY_COLUMNS), _country_rows())
    scope["q"] = Table(QUALITY, _quality_rows(), even=True)
    scope["m"] = Table(
        ("adj", "a", "ly"), [(m, article(m), adverb(m)) for m in qualities.MANNERS.split()]
    )
    scope["deed"] = Table(VERB, _verb_rows(qualities.ADVERB_DEEDS.strip().split("\n")), even=True)
    scope["v"] = scope["w"] = Table((*VERB, "object"), _action_rows(), even=True)
    scope["t"] = scope["u"] = Table(THING, _thing_rows(), even=True)
    return scope


def _phrases(text: str) -> Words:
    return Words(text.split(","))


def _before_colon(table: str) -> list[str]:
    return [line.split(":")[0] for line in table.strip().split("\n")]


def _person_rows() -> list[Row]:
    """Interleave the genders, so that both have frequent and rare names."""
    rows: list[Row] = []
    for male, female in zip(people.MALE_NAMES.split(), people.FEMALE_NAMES.split(), strict=True):
        rows.append((male, *people.MALE_FORMS))
        rows.append((female, *people.FEMALE_FORMS))
    return rows


def _country_rows() -> list[Row]:
    rows = [tuple(line.split("|")) for line in world.COUNTRIES.strip().split("\n")]
    return [(article(row[2]), *row) for row in rows]


def _quality_rows() -> list[Row]:
    """Return a row for each adjective, thing and other thing of its axis."""
    plurals = dict(forms.split("/") for forms in _before_colon(things.THINGS))
    rows: list[Row] = []
    for line in qualities.AXES.strip().split("\n"):
        positive, negative, nouns, likes = line.split("|")
        for adjective, opposite, like in zip(
            (positive, negative), (negative, positive), likes.split(";"), strict=True
        ):
            er, est = compare(adjective)
            forms = (adjective, er, est, article(adjective), article(er))
            opposites = (opposite, article(opposite), compare(opposite)[1])
            for x in nouns.split():
                for y in nouns.split():
                    if x != y:
                        similes = like.split(",")
                        simile = similes[len(rows) % len(similes)]
                        rows.append((*forms, *opposites, x, y, plurals.get(x, plural(x)), simile))
    return rows


def _verb_rows(phrases: Sequence[str]) -> list[Row]:
    return [tuple(_inflect(phrase, form) for form in range(5)) for phrase in phrases]


def _action_rows() -> list[Row]:
    rows: list[Row] = []
    for line in actions.ACTIONS.strip().split("\n"):
        base, objects = line.split(": ")
        rows += [(*conjugate(base), thing) for thing in objects.split(", ")]
    return rows


def _thing_rows() -> list[Row]:
    """Return a row for each noun with each of its adjectives, places and verbs."""
    rows: list[Row] = []
    for line in things.THINGS.strip().split("\n"):
        forms, about = line.split(": ")
        singular, many = forms.split("/")
        adjectives, places, verbs = (part.split(",") for part in about.split("; "))
        for adjective in adjectives:
            for place in places:
                for verb in _verb_rows(verbs):
                    start = (singular, many, article(singular), article(adjective))
                    rows.append((*start, adjective, place, *verb))
    return rows
