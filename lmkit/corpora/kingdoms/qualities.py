"""Adjectives in opposite pairs, with the things they are said of, and adverbs."""

# positive | negative | things both are said of | what each is proverbially (positive;negative)
AXES = """
big|small|house garden dog box boat window farm|a barn,a whale,an elephant;a pea,a mouse,a crumb
tall|short|tower ladder tree fence chimney sunflower|a giant,a steeple;a stump,a thimble
old|new|coat bicycle roof piano fence carpet|the hills,the pyramids;a fresh coin,the spring
hot|cold|soup oven summer bath tea stone|fire,a furnace,boiling oil;ice,the grave,snow
fast|slow|horse train car runner river boat|lightning,an arrow,the wind;a snail,a tortoise
strong|weak|rope bridge wall coffee ox voice|an ox,iron,steel;water,a reed,a kitten
hard|soft|bed bread pillow chair cheese stone|rock,nails,flint;butter,a feather,wool
rich|poor|merchant village family bishop town|a banker,a gold mine;a beggar,a church mouse
heavy|light|bag suitcase hammer door basket|lead,an anchor;a feather,air,a leaf
bright|dark|room lamp kitchen sky corridor|the sun,a mirror;the night,a cellar,coal
loud|quiet|bell street voice engine drum|thunder,a trumpet;a whisper,falling snow
clean|dirty|shirt plate floor kitchen street glass|a new pin,fresh linen;mud,a pigsty
happy|sad|child song family letter clown|a lark,a holiday;a funeral,a rainy sunday
wide|narrow|street river door path corridor|the ocean,the plain;a needle,a thread
deep|shallow|lake well river hole pond|the sea,a mine;a puddle,a saucer
thick|thin|book blanket wall ice soup|a mattress,an oak trunk;paper,a hair
high|low|mountain wall ceiling price shelf|the clouds,a nest of eagles;a cellar door,the ground
early|late|train dinner bus spring concert|the lark,the first bird;the last train,midnight
cheap|dear|ticket coat hotel meal watch|dirt,tap water;gold,diamonds
good|bad|idea plan apple film teacher harvest|fresh bread,a true friend;poison,a rotten egg
sweet|sour|apple wine cherry sauce juice|honey,sugar,candy;vinegar,a lemon
wet|dry|towel coat road forest season|a fish,a sponge;dust,a bone,the desert
smooth|rough|table road skin sea stone|silk,glass,marble;bark,sandpaper
sharp|blunt|knife axe pencil sword tooth|a razor,a thorn;a spoon,a boot
wise|silly|judge answer uncle plan rule|an owl,a prophet;a goose,a circus clown
near|far|village island station hill shore|the next room,a heartbeat;the moon,the stars
young|aged|soldier teacher tree nation wolf|the morning,a colt,a bud;an oak,a turtle
calm|wild|sea night horse river crowd|a pond,a sleeping cat;a storm,a tiger
fresh|stale|bread fish cake pie roll|the dew,a daisy;an old crust,the rolls of last week
proud|humble|knight general actor nation winner|a peacock,a lion;a pilgrim,a servant
brave|timid|knight soldier sailor dog child|a lion,a hero;a rabbit,a deer
safe|risky|road bridge plan harbour job|a castle,a locked chest;thin ice,a game of dice
simple|strange|story song dream rule house|daylight,a nursery rhyme;a dream,a riddle
polite|rude|waiter letter guest answer child|a diplomat,a butler;a pirate,a bear
full|empty|glass bus barrel room stadium|an egg,a beehive;a drum,a desert
"""

ADVERB_DEEDS = """
walk along the road
answer the question
close the door
speak to the crowd
climb the stairs
read the letter
eat the soup
work in the garden
sing the old song
play the piano
drive through the town
write down the address
look at the map
knock at the gate
"""

COMPARISON_PATTERNS = (
    "the {q.x} is {q.er} than the {q.y} .",
    "this {q.x} is {q.er} than that {q.x} .",
    "that was the {q.est} {q.x} in the {place} .",
    "{person.name} has never seen {q.a_er} {q.er} {q.x} .",
    "it is the {q.est} {q.x} that {person.name} has ever seen .",
    "the {q.x} is as {q.adj} as {q.like} .",
    "the {q.x} was as {q.adj} as {q.like} , and the {q.y} was {q.er} still .",
    "the {q.x} is not {q.adj} but {q.opp} .",
    "is the {q.x} {q.adj} or {q.opp} ?",
    "how {q.adj} is the {q.x} ? it is as {q.adj} as {q.like} .",
    "the {q.x} was {q.adj} , but the {q.y} was even {q.er} .",
    "the {q.x} is getting {q.er} and {q.er} .",
    "{person.name} dreamed of {q.a} {q.adj} {q.x} , not of {q.opp_a} {q.opp} one .",
    "of all the {q.xs} in the {place} this one is the {q.est} .",
    "which {q.x} is the {q.est} ? it is the one near the {place} .",
    "{person.name} saw {q.a} {q.adj} {q.x} , but {person2.name} saw {q.a_er} {q.er} one .",
    "once the {q.x} was {q.opp} , but now it is {q.adj} .",
    "that {q.x} is too {q.adj} for {person.name} .",
    "the {q.x} was very {q.adj} {time} .",
    '" what {q.a} {q.adj} {q.x} ! " said {person.name} .',
    "{person.name} chose the {q.est} {q.x} and {person2.name} the {q.opp_est} one .",
    "the {q.x} could not be {q.er} , for it was the {q.est} of all .",
)

ADVERB_PATTERNS = (
    "{person.name} {deed.past} {m.ly} .",
    "{person.name} always {deed.s} {m.ly} .",
    "please {deed.base} {m.ly} , {person.name} !",
    "{person.name} is {m.adj} , and {person.he} {deed.s} {m.ly} .",
    "nobody can {deed.base} as {m.ly} as {person.name} .",
    "{person.name} {deed.past} more {m.ly} than {person2.name} .",
    "it was {m.a} {m.adj} morning , and {person.name} {deed.past} {m.ly} .",
    '" {m.adj} people {deed.base} {m.ly} , " said {person.name} to {person.himself} .',
    "{person.name} gave {m.a} {m.adj} smile and {deed.past} {m.ly} .",
)

# Adjectives whose adverb is formed with -ly and that people and answers can be.
MANNERS = """
quick slow loud quiet happy sad proud calm brave polite rude careful careless gentle angry
cheerful nervous patient serious impatient clever lazy honest eager bitter warm cold sweet
noisy silent
"""
