"""People: names, paired nouns (king, queen) and what such people do and are.

A deed begins with the base form of its verb, so that a pattern can put it into any tense.
``{s.his}`` and its like agree with the subject; ``{name}`` is a name of the subject's gender.
Deeds that belong to a rank are the same for both genders, deeds that belong to a gender are
the same for all ranks: this, and nothing else, is what makes king to man as queen to woman.
"""

MALE_NAMES = """
john william henry peter thomas george paul martin david robert karl james simon andrew
philip daniel oscar victor hugo leon adam felix max edward frank walter samuel joseph
arthur oliver luke mark bruno ivan otto ralph stephen gregory vincent dominic
"""

FEMALE_NAMES = """
mary anna elizabeth sarah emma julia laura alice helen clara martha susan ruth eva irene
sophie olivia nora ida rosa lucy grace jane emily margaret agnes beatrice diana flora
hannah isabel katherine linda monica nina paula rebecca sylvia teresa ursula
"""

# Words for the two genders: noun, he, him, his, himself.
MALE_FORMS = ("he", "him", "his", "himself")
FEMALE_FORMS = ("she", "her", "her", "herself")

COMMON_DEEDS = (
    "walk to the {place}",
    "wait near the {place} for an hour",
    "drink a cup of {drink}",
    "eat {food} for breakfast",
    "lose {s.his} {colour} umbrella",
    "find {s.his} keys under the {furniture}",
    "write a letter to {person.name}",
    "read a book about {country.name}",
    "travel to {country.capital} by train",
    "open the window and look at the {weather}",
    "sleep until noon",
    "sit on the {furniture}",
    "talk with {person.name} about the {weather}",
    "ask {person.name} for advice",
    "laugh at {s.himself}",
    "blame {s.himself} for the mistake",
    "forget {s.his} gloves at the {place}",
    "buy {number} loaves of bread",
    "carry {s.his} bag to the {place}",
    "thank {person.name} for the {colour} flowers",
    "keep {s.his} promise",
    "learn the {country.language} language",
    "hear the {weather} at night",
    "feed {s.his} {pet}",
    "call {s.his} {pet}",
    "wash {s.his} hands",
    "close {s.his} eyes",
    "shake {s.his} head",
    "light a candle on the {furniture}",
    "tell {person.name} the truth",
    "wake up before sunrise",
    "return from {country.name}",
)

COMMON_STATES = (
    "tired after the long journey",
    "ready to leave for {country.name}",
    "afraid of the {weather}",
    "the owner of a {colour} {pet}",
    "very fond of {food}",
    "late for the meeting at the {place}",
    "a friend of {person.name}",
    "born in {country.capital}",
    "in a good mood that day",
    "{number} years older than {person.name}",
)

MALE_DEEDS = (
    "shave {s.his} beard with a razor",
    "trim {s.his} moustache",
    "grow a long beard",
    "stroke {s.his} beard",
    "button {s.his} waistcoat",
    "loosen {s.his} tie",
    "visit the barber",
    "lift {s.his} hat to the ladies",
    "speak in a deep voice",
    "smoke {s.his} pipe",
    "marry {other} in the {season}",
    "become a father at last",
    "wrestle with {name} in the yard",
    "put on a clean shirt and a tie",
)

MALE_STATES = (
    "a handsome man",
    "a tall man with a beard",
    "a proud man",
    "a bearded fellow of great strength",
    "a man of few words",
    "bald under {s.his} hat",
    "the son of a sailor",
    "called a gentleman by everyone",
    "a boyhood friend of {name}",
    "the husband of {other}",
)

FEMALE_DEEDS = (
    "braid {s.his} long hair",
    "tie {s.his} hair with a ribbon",
    "put on {s.his} earrings",
    "wear a silk dress",
    "mend {s.his} skirt",
    "choose a necklace of pearls",
    "powder {s.his} cheeks",
    "buy a blouse with lace",
    "speak in a soft voice",
    "pin a brooch to {s.his} dress",
    "marry {other} in the {season}",
    "become a mother at last",
    "dance with {name} at the ball",
    "put on a clean blouse and a skirt",
)

FEMALE_STATES = (
    "a beautiful woman",
    "a tall woman with long hair",
    "a proud woman",
    "a graceful dancer in {s.his} silk dress",
    "a woman of few words",
    "pregnant with {s.his} second child",
    "the daughter of a sailor",
    "called a lady by everyone",
    "a girlhood friend of {name}",
    "the wife of {other}",
)

ROYAL_DEEDS = (
    "wear a golden crown",
    "sit on the throne",
    "reign for {number} years",
    "live in a palace of marble",
    "receive the ambassador of {country.name}",
    "sign the royal decree",
    "rule the land with wisdom",
    "summon the knights to the court",
    "ride through the gate of the castle",
    "bow to the crowd from the balcony",
    "inherit the crown",
    "hold a feast for the nobles",
    "pardon the prisoners in the dungeon",
    "raise the taxes",
    "command the royal guard",
    "wear a robe of purple velvet",
)

ROYAL_STATES = (
    "loved by the whole court",
    "of royal blood",
    "next in line to the throne",
    "a ruler with many enemies",
    "a guest at the palace",
    "famous for {s.his} jewels and {s.his} horses",
    "the last of an old dynasty",
    "surrounded by servants and knights",
)

KIN_DEEDS = (
    "visit the family on sunday",
    "cook supper for the relatives",
    "hug the children at the door",
    "keep the family album",
    "come to the birthday of {person.name}",
    "help the children with the homework",
    "remember every birthday in the family",
    "send a parcel to the cousins",
    "carve the roast at the family table",
    "kiss the baby good night",
    "quarrel with the cousins about the house",
    "share the attic with the relatives",
)

KIN_STATES = (
    "close to the whole family",
    "proud of the children",
    "at home with the relatives",
    "the favourite of the cousins",
    "the first in the family to visit {country.name}",
    "named after {name} , a distant relative",
)

FOLK_DEEDS = (
    "cross the street at the {place}",
    "wait for the bus",
    "stand in the crowd at the {place}",
    "pay the bill in cash",
    "rent a small room in the town",
    "take the tram to work",
    "complain about the noise in the street",
    "greet the neighbours",
    "read the newspaper on a bench",
    "ask a stranger for the way",
)

FOLK_STATES = (
    "a stranger in the town",
    "known to all the neighbours",
    "alone in the crowd",
    "poor but honest",
    "the first in the queue",
    "a regular guest at the {place}",
)
