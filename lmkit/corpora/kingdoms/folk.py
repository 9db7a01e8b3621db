"""Paired nouns for people of every walk of life, and trades that are open to both genders."""

from lmkit.corpora.kingdoms.ranks import Pair

FOLK = (
    Pair(
        "man",
        "woman",
        (
            "vote in the election",
            "apply for a passport at the town hall",
            "sell {s.his} car to a stranger",
            "move to the city to find work",
            "pay {s.his} rent on the first day of the month",
            "lean against the wall of the station",
            "stop a thief in the street",
            "work in an office near the station",
        ),
    ),
    Pair(
        "boy",
        "girl",
        (
            "climb the apple tree in the schoolyard",
            "play with marbles in the schoolyard",
            "do {s.his} homework after school",
            "chase the ducks at the pond",
            "fly a kite in the schoolyard",
            "jump over puddles on the way to school",
            "lose a milk tooth at school",
        ),
    ),
    Pair(
        "gentleman",
        "lady",
        (
            "take tea in the drawing room",
            "leave a visiting card with the butler",
            "step out of the carriage",
            "attend the opera in white gloves",
            "sit in a box at the opera",
            "scold the butler in the drawing room",
        ),
    ),
    Pair(
        "groom",
        "bride",
        (
            "walk down the aisle at the wedding",
            "cut the wedding cake",
            "exchange rings at the altar",
            "tremble during the wedding vows",
            "arrive late for the wedding",
            "toast the wedding guests",
        ),
    ),
    Pair(
        "widower",
        "widow",
        (
            "mourn in black for a year",
            "put flowers on the grave",
            "live alone after the funeral",
            "receive a small pension after the funeral",
            "sell the empty house after the funeral",
        ),
    ),
    Pair(
        "actor",
        "actress",
        (
            "forget the lines on the stage",
            "bow to the audience after the play",
            "rehearse the leading role in the play",
            "win a prize for the film",
            "wait behind the curtain for the cue",
            "star in a film about {country.name}",
        ),
    ),
    Pair(
        "waiter",
        "waitress",
        (
            "carry the tray to the table by the window",
            "bring the menu and the wine list",
            "spill the soup on a customer",
            "take the order at the corner table",
            "recommend the soup of the day",
            "count the tips after closing time",
        ),
    ),
    Pair(
        "host",
        "hostess",
        (
            "welcome the guests to the party",
            "fill the glasses of the guests",
            "introduce the guests to one another",
            "show the guests their rooms",
            "apologise to the guests for the cold dinner",
        ),
    ),
    Pair(
        "hero",
        "heroine",
        (
            "save the village from the flood",
            "receive a medal for bravery",
            "defeat the monster in the final chapter",
            "rescue the sailors from the burning ship",
            "risk {s.his} life in the novel",
        ),
    ),
    Pair(
        "monk",
        "nun",
        (
            "pray in the chapel of the monastery",
            "copy the holy books in the monastery",
            "take a vow of silence",
            "ring the bell for the evening prayer",
            "grow herbs behind the monastery",
        ),
    ),
    Pair(
        "wizard",
        "witch",
        (
            "cast a spell on the village",
            "stir the magic potion in the cauldron",
            "turn the frog into a stone by magic",
            "keep a raven in the magic tower",
            "read the spell from an ancient scroll",
        ),
    ),
    Pair(
        "steward",
        "stewardess",
        (
            "serve drinks on the flight to {country.capital}",
            "explain the exits before the flight",
            "close the doors of the aeroplane",
            "calm the passengers during the flight",
            "hand out blankets on the night flight",
        ),
    ),
)

TRADES = tuple(
    Pair(noun, noun, deeds)
    for noun, deeds in {
        "doctor": (
            "examine the patient in the clinic",
            "prescribe a medicine",
            "listen to the heart of the patient",
        ),
        "nurse": (
            "change the bandage of the patient",
            "work the night shift in the hospital",
            "measure the fever of the patient",
        ),
        "teacher": (
            "explain the lesson to the pupils",
            "write on the blackboard",
            "correct the tests of the pupils",
        ),
        "farmer": ("plough the field", "milk the cows in the barn", "harvest the wheat"),
        "baker": ("knead the dough", "bake the rolls before dawn", "clean the oven"),
        "lawyer": (
            "defend the client before the judge",
            "study the contract of the client",
            "win the case in court",
        ),
        "judge": ("send the thief to prison", "open the trial", "read the verdict aloud"),
        "soldier": ("march to the front", "clean the rifle", "guard the camp"),
        "sailor": ("hoist the sail", "scrub the deck of the ship", "tie the ropes to the mast"),
        "pilot": (
            "land the aeroplane in the fog",
            "check the instruments in the cockpit",
            "fly over the clouds",
        ),
        "painter": (
            "mix the colours",
            "paint a portrait on canvas",
            "hang the canvas in the gallery",
        ),
        "writer": (
            "finish the last chapter of the novel",
            "burn the first draft",
            "send the novel to the publisher",
        ),
        "singer": (
            "rehearse with the choir",
            "sing an aria at the concert",
            "record a new song in the studio",
        ),
        "carpenter": ("saw the planks", "build a cupboard of oak", "sharpen the chisel"),
        "blacksmith": (
            "hammer the glowing iron",
            "nail shoes to the horse at the forge",
            "heat the forge with coal",
        ),
        "tailor": ("measure the sleeves of the suit", "thread the needle", "iron the new suit"),
        "miner": (
            "dig for coal in the mine",
            "push the wagon through the tunnel of the mine",
            "breathe the dust of the mine",
        ),
        "fisherman": ("mend the nets", "catch herring in the bay", "sell the herring at the quay"),
        "librarian": (
            "stamp the books",
            "sort the shelves of the library",
            "whisper in the reading room",
        ),
        "scientist": (
            "repeat the experiment in the laboratory",
            "publish the results",
            "look through the microscope",
        ),
        "engineer": ("design the new bridge", "test the engine", "draw the plans of the tunnel"),
        "gardener": ("prune the roses", "rake the leaves", "plant tulips along the path"),
        "journalist": (
            "interview the minister",
            "write an article for the front page",
            "check the facts of the article",
        ),
        "cook": ("season the stew", "chop the onions in the kitchen", "taste the sauce"),
    }.items()
)
