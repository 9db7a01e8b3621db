"""English word forms by rule, with the irregular ones in tables."""

from typing import NamedTuple

VOWELS = "aeiou"

# base: past, participle
IRREGULAR_VERBS: dict[str, tuple[str, str]] = {
    "bear": ("bore", "borne"),
    "become": ("became", "become"),
    "begin": ("began", "begun"),
    "bend": ("bent", "bent"),
    "bite": ("bit", "bitten"),
    "blow": ("blew", "blown"),
    "break": ("broke", "broken"),
    "breed": ("bred", "bred"),
    "bring": ("brought", "brought"),
    "build": ("built", "built"),
    "burst": ("burst", "burst"),
    "buy": ("bought", "bought"),
    "cast": ("cast", "cast"),
    "catch": ("caught", "caught"),
    "choose": ("chose", "chosen"),
    "come": ("came", "come"),
    "cut": ("cut", "cut"),
    "dig": ("dug", "dug"),
    "do": ("did", "done"),
    "draw": ("drew", "drawn"),
    "drink": ("drank", "drunk"),
    "drive": ("drove", "driven"),
    "eat": ("ate", "eaten"),
    "fall": ("fell", "fallen"),
    "feed": ("fed", "fed"),
    "fight": ("fought", "fought"),
    "find": ("found", "found"),
    "fly": ("flew", "flown"),
    "forget": ("forgot", "forgotten"),
    "forgive": ("forgave", "forgiven"),
    "get": ("got", "got"),
    "give": ("gave", "given"),
    "go": ("went", "gone"),
    "grow": ("grew", "grown"),
    "hang": ("hung", "hung"),
    "have": ("had", "had"),
    "hear": ("heard", "heard"),
    "hide": ("hid", "hidden"),
    "hold": ("held", "held"),
    "hurt": ("hurt", "hurt"),
    "keep": ("kept", "kept"),
    "know": ("knew", "known"),
    "lay": ("laid", "laid"),
    "lead": ("led", "led"),
    "leave": ("left", "left"),
    "lend": ("lent", "lent"),
    "lie": ("lay", "lain"),
    "light": ("lit", "lit"),
    "lose": ("lost", "lost"),
    "make": ("made", "made"),
    "meet": ("met", "met"),
    "overtake": ("overtook", "overtaken"),
    "pay": ("paid", "paid"),
    "put": ("put", "put"),
    "read": ("read", "read"),
    "rebuild": ("rebuilt", "rebuilt"),
    "ride": ("rode", "ridden"),
    "ring": ("rang", "rung"),
    "rise": ("rose", "risen"),
    "run": ("ran", "run"),
    "say": ("said", "said"),
    "see": ("saw", "seen"),
    "sell": ("sold", "sold"),
    "send": ("sent", "sent"),
    "set": ("set", "set"),
    "sew": ("sewed", "sewn"),
    "shake": ("shook", "shaken"),
    "shine": ("shone", "shone"),
    "show": ("showed", "shown"),
    "shut": ("shut", "shut"),
    "sing": ("sang", "sung"),
    "sink": ("sank", "sunk"),
    "sit": ("sat", "sat"),
    "sleep": ("slept", "slept"),
    "slide": ("slid", "slid"),
    "speak": ("spoke", "spoken"),
    "spend": ("spent", "spent"),
    "spin": ("spun", "spun"),
    "stand": ("stood", "stood"),
    "steal": ("stole", "stolen"),
    "strike": ("struck", "struck"),
    "sweep": ("swept", "swept"),
    "swim": ("swam", "swum"),
    "swing": ("swung", "swung"),
    "take": ("took", "taken"),
    "teach": ("taught", "taught"),
    "tear": ("tore", "torn"),
    "tell": ("told", "told"),
    "think": ("thought", "thought"),
    "throw": ("threw", "thrown"),
    "wake": ("woke", "woken"),
    "wear": ("wore", "worn"),
    "win": ("won", "won"),
    "write": ("wrote", "written"),
}

# Verbs whose final consonant doubles before -ed and -ing.
DOUBLING = """
beg begin chop clap cut dig drip drop fit forget get grab grin hop hug hum knit nap nod
pat pin plan put quarrel run scrub set shut sit slam slip span spin star step stir stop swim
tap tip travel trim win wrap
"""

IRREGULAR_COMPARISON: dict[str, tuple[str, str]] = {
    "bad": ("worse", "worst"),
    "far": ("farther", "farthest"),
    "good": ("better", "best"),
}


class Verb(NamedTuple):
    """The five forms of a verb: I base, she s, she past, she has participle, she is ing."""

    base: str
    s: str
    past: str
    participle: str
    ing: str


def article(word: str) -> str:
    """Return "a" or "an" as the sound of the word asks (by its spelling and a few exceptions)."""
    silent_h = word.startswith(("honest", "hour", "heir"))
    spoken_consonant = word.startswith(("uni", "use", "euro", "one", "ugandan", "ukr", "uru"))
    vowel = silent_h or (word[0] in VOWELS and not spoken_consonant)
    return "an" if vowel else "a"


def conjugate(base: str) -> Verb:
    """Return the forms of a verb: irregular ones from the table, the others by rule."""
    stem = base + base[-1] if base in DOUBLING.split() else base
    if base == "have":
        third = "has"
    elif base.endswith(("s", "sh", "ch", "x", "z", "o")) and not base.endswith("oo"):
        third = base + "es"
    else:
        third = _ies(base)
    if base.endswith("ie"):
        ing = base[:-2] + "ying"
    elif base.endswith("e") and not base.endswith(("ee", "oe", "ye")):
        ing = base[:-1] + "ing"
    else:
        ing = stem + "ing"
    if base in IRREGULAR_VERBS:
        past, participle = IRREGULAR_VERBS[base]
    else:
        past = base + "d" if base.endswith("e") else _past(base, stem)
        participle = past
    return Verb(base, third, past, participle, ing)


def _ends_in_consonant_y(word: str) -> bool:
    return word.endswith("y") and word[-2] not in VOWELS


def _ies(word: str) -> str:
    return word[:-1] + "ies" if _ends_in_consonant_y(word) else word + "s"


def _past(base: str, stem: str) -> str:
    return base[:-1] + "ied" if _ends_in_consonant_y(base) else stem + "ed"


def plural(noun: str) -> str:
    """Return the regular plural of a noun."""
    if noun.endswith(("s", "sh", "ch", "x", "z")):
        return noun + "es"
    return _ies(noun)


def adverb(adjective: str) -> str:
    """Return the adverb in -ly of an adjective."""
    if adjective.endswith("le"):
        return adjective[:-1] + "y"
    if adjective.endswith("y"):
        return adjective[:-1] + "ily"
    return adjective + "ly"


def compare(adjective: str) -> tuple[str, str]:
    """Return the comparative and the superlative of a short adjective."""
    if adjective in IRREGULAR_COMPARISON:
        return IRREGULAR_COMPARISON[adjective]
    if adjective.endswith("e"):
        stem = adjective[:-1]
    elif _ends_in_consonant_y(adjective):
        stem = adjective[:-1] + "i"
    elif _doubles(adjective):
        stem = adjective + adjective[-1]
    else:
        stem = adjective
    return stem + "er", stem + "est"


def _doubles(adjective: str) -> bool:
    """Say whether the final consonant doubles: one vowel before one consonant, as in big."""
    if len(adjective) != 3:
        return False
    first, middle, last = tuple(adjective)
    return first not in VOWELS and middle in VOWELS and last not in VOWELS + "wxy"
