"""Verbs in all their tenses, each with the objects that mark it."""

# verb: objects or places, separated by commas
ACTIONS = """
write: a long letter, a poem, a short report, the first page
read: the morning paper, an old novel, the small print, the sign
eat: a ripe apple, two eggs, a bowl of porridge, the last cake
drink: a glass of milk, hot cocoa, cold water, the whole bottle
sing: a sad song, in the choir, an old hymn, in the shower
swim: across the lake, in the cold sea, against the current
run: a marathon, through the park, up the hill, after the bus
drive: a red truck, to the coast, through the tunnel, the school bus
ride: a grey pony, along the beach, a bicycle, over the hills
fly: to the south, a small plane, a paper kite, across the ocean
build: a stone wall, a wooden boat, a nest, a sand castle
break: a blue cup, the window, the rule, a leg
speak: with an accent, too fast, at the meeting, on the radio
steal: a gold watch, the silver spoons, a chicken, the plans
choose: a ripe melon, the red hat, a new leader, the shorter way
forget: the birthday, the password, the tickets, an old friend
give: a present, a speech, some good advice, a helping hand
take: a photograph, the early bus, a hot bath, a deep breath
bring: an umbrella, good news, a bottle of wine, the bill
buy: fresh fish, a used car, two tickets, a pair of boots
sell: lemonade, the old piano, secondhand books, vegetables
teach: geometry, the younger class, chess, a dog some tricks
catch: a cold, a big trout, the ball, the night train
think: about the future, of home, in pictures, about the answer
fight: a fire, the disease, with a sword, for freedom
find: a lost ring, a coin in the grass, the right word, mushrooms
lose: the key, the game, a glove, a tooth
win: the race, a prize, first place, the lottery
throw: a snowball, the ball, stones into the water, a party
draw: a circle, a map, a portrait in chalk, the curtains
grow: tomatoes, pumpkins, roses, herbs in pots
know: the way, the answer, every street, a secret
wear: a straw hat, thick boots, a uniform, glasses
tear: the paper, a sleeve, the page in two
sleep: in a tent, on the sofa, through the storm, for ten hours
wake: at dawn, the baby, with a headache
sit: on the grass, by the fire, in the front row
stand: in line, on one leg, under the tree, at the window
hide: the money, behind the curtain, under the bed, the present
keep: a diary, bees, the receipt, a secret
hold: the rope, a meeting, an umbrella, the baby
hear: a strange noise, footsteps, the thunder, music next door
see: a rainbow, the doctor, a play, ghosts
tell: a joke, the truth, a bedtime story, lies
send: a postcard, a parcel, the invoice, an invitation
spend: too much money, a week in the mountains, the night in a hotel
lend: the ladder, a pencil, ten coins, the lawnmower
pay: the rent, the bill, in cash, a fine
ring: the doorbell, the church bell, an old friend
sweep: the yard, the chimney, the kitchen floor
shake: the rug, hands, the bottle, the tree
blow: the whistle, out the candles, a trumpet, bubbles
bite: into the apple, the bullet, off a thread
feed: the ducks, the baby, the cows, the fire
lead: the orchestra, the team, the horse by the rope
light: the stove, a cigar, the lantern, a match
cut: the bread, the grass, a ribbon, the cake
put: the book on the shelf, the kettle on, the coins in a jar
walk: the dog, to school, in the rain, along the canal
talk: on the phone, about politics, in the hallway
cook: a stew, rice with beans, for ten people, pasta
clean: the windows, the fish, the stairs, a brush
paint: the fence, a landscape, the ceiling white, eggs for easter
wash: the dishes, the car, the woollen socks
open: the envelope, a jar, the umbrella, a bank account
close: the shutters, the shop, the lid, the gate
plant: an oak, potatoes, a hedge, bulbs
carry: a heavy sack, the tray, water from the well
climb: the ladder, a mountain, over the fence
dance: a waltz, in the kitchen, until midnight
play: the violin, cards, hide and seek, a trick
repair: the roof, a bicycle, the clock, old radios
visit: the museum, an old aunt, the dentist, the ruins
count: the coins, the stars, the sheep, the votes
travel: by train, around the world, without luggage
study: law, the map, for the exam, the stars
push: the cart, the button, the swing
fix: the tap, the brakes, a date
smile: at the camera, at the baby, without a reason
wait: for the bus, at the corner, for an answer
"""

TENSE_PATTERNS = (
    "{person.name} {v.s} {v.object} {often} .",
    "{person.name} {v.past} {v.object} {past} .",
    "{past} {person.name} {v.past} {v.object} .",
    "{person.name} is {v.ing} {v.object} {now} .",
    "{person.name} was {v.ing} {v.object} when the {weather} began .",
    "{person.name} has {v.participle} {v.object} {number} times .",
    "{person.name} has already {v.participle} {v.object} .",
    "{person.name} will {v.base} {v.object} {future} .",
    "did {person.name} {v.base} {v.object} {past} ?",
    "does {person.name} {v.base} {v.object} {often} ?",
    "{person.name} does not {v.base} {v.object} any more .",
    "{person.name} did not {v.base} {v.object} {past} .",
    "{person.name} and {person2.name} {v.base} {v.object} {often} .",
    "i {v.base} {v.object} {often} , but {person.name} never {v.s} {v.object} .",
    "they had {v.participle} {v.object} before {person.name} came .",
    "{person.name} wants to {v.base} {v.object} {future} .",
    "{person.name} likes {v.ing} {v.object} .",
    "{person.name} stopped {v.ing} {v.object} because of the {weather} .",
    '" i have never {v.participle} {v.object} , " said {person.name} .',
    '" let us {v.base} {v.object} {future} ! " said {person.name} .',
    "if {person.name} {v.s} {v.object} {now} , {person.he} will be late .",
    "while {person.name} {v.past} {v.object} , {person2.name} {w.past} {w.object} .",
    "{person.name} {v.past} {v.object} and then {w.past} {w.object} .",
    "{person.name} {v.s} {v.object} , and {person2.name} {w.s} {w.object} .",
    "{person.name} had {v.participle} {v.object} , so {person.he} {w.past} {w.object} .",
    "nobody {v.s} {v.object} as often as {person.name} .",
)

# When, by tense; the phrases are separated by commas.
OFTEN = "every day,every week,every morning,on sundays,very often,once a year,in the evening"
PAST = "yesterday,last week,two days ago,last summer,a long time ago,last night,in march"
NOW = "now,right now,at the moment,at this very minute,today"
FUTURE = "tomorrow,next week,soon,next year,in a few days,one day,next summer"
