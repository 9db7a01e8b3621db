"""Nouns in both numbers, with how they look, where they are and what they do."""

# singular/plural (- where regular): adjectives; places; what they do (verb phrases)
THINGS = """
mouse/mice: small,grey,hungry; in the pantry,behind the wall; squeak,nibble the cheese
child/children: young,curious,noisy; in the playground,at the party; laugh,play with blocks
foot/feet: bare,cold,swollen; in the boot,under the blanket; hurt,leave a print in the sand
tooth/teeth: white,loose,sharp; in the mouth,in the jaw; ache,need a filling
goose/geese: fat,white,angry; on the pond,in the farmyard; hiss,fly south in autumn
wolf/wolves: grey,lean,wild; in the forest,on the ridge; howl,hunt at night
leaf/leaves: green,yellow,dry; on the branch,on the lawn; fall,rustle in the wind
knife/knives: sharp,rusty,silver; in the drawer,on the cutting board; cut,shine in the light
loaf/loaves: warm,brown,stale; in the oven,on the bakery shelf; smell good,rise slowly
thief/thieves: masked,clever,nervous; in the alley,at the bank; run away,pick the lock
shelf/shelves: wooden,dusty,high; in the library,above the desk; bend,hold the books
calf/calves: brown,newborn,clumsy; in the meadow,beside the cow; drink milk,stumble
half/halves: equal,broken,larger; on the plate,in the bowl; match,fit together
ox/oxen: strong,slow,patient; before the plough,in the stable; pull the cart,graze
sheep/sheep: woolly,white,lost; on the hill,in the fold; bleat,graze
fish/fish: silver,slippery,tiny; in the tank,in the net; swim,swallow the hook
deer/deer: shy,brown,graceful; in the glade,at the edge of the wood; jump,listen
hero/heroes: fearless,famous,tired; in the legend,on the monument; win,rescue the weak
potato/potatoes: boiled,muddy,new; in the sack,in the pot; cook,sprout in the dark
tomato/tomatoes: ripe,red,juicy; in the salad,on the vine; ripen,burst in the sun
city/cities: large,crowded,modern; on the coast,on the map; grow,attract workers
story/stories: exciting,long,strange; in the book,on the last page; begin,end happily
baby/babies: newborn,sleepy,tiny; in the cradle,in the pram; cry,sleep all day
country/countries: distant,rich,small; on the border,across the sea; trade,sign a treaty
berry/berries: sweet,wild,blue; on the bush,in the bowl; ripen,stain the fingers
fly/flies: annoying,black,lazy; on the window,around the lamp; buzz,land on the jam
party/parties: merry,loud,late; at the club,on the terrace; begin,last all night
box/boxes: square,heavy,cardboard; in the attic,on the truck; rattle,contain old letters
bus/buses: red,late,crowded; at the stop,in the traffic; arrive,stop at the square
fox/foxes: sly,red,quick; in the den,near the henhouse; sneak,steal a hen
church/churches: old,stone,quiet; on the square,in the old town; ring for mass,attract pilgrims
bench/benches: wooden,wet,empty; in the park,on the platform; creak,face the lake
watch/watches: golden,broken,expensive; on the wrist,at the jeweller; tick,run slow
dish/dishes: spicy,dirty,hot; in the sink,on the menu; clatter,taste of garlic
brush/brushes: stiff,soft,worn; in the paint pot,by the easel; drip,leave a stroke
glass/glasses: empty,tall,clear; on the bar,beside the carafe; clink,break
dress/dresses: pretty,silk,long; in the wardrobe,at the dressmaker; fit,hang by the mirror
horse/horses: brown,wild,fast; in the stable,on the racetrack; gallop,neigh
dog/dogs: loyal,hungry,friendly; in the kennel,at the door; bark,fetch the stick
cat/cats: black,lazy,curious; on the windowsill,by the stove; purr,chase the string
cow/cows: spotted,calm,brown; in the pasture,in the barn; moo,chew the grass
pig/pigs: fat,pink,muddy; in the sty,at the trough; grunt,roll in the mud
hen/hens: brown,plump,busy; in the coop,in the yard; cackle,lay an egg
bird/birds: colourful,tiny,shy; on the twig,in the nest; sing,build a nest
bee/bees: busy,golden,angry; in the hive,on the blossom; hum,gather nectar
spider/spiders: hairy,black,patient; in the web,in the corner; spin a thread,wait
lion/lions: proud,strong,hungry; in the cage,on the savanna; roar,stalk the zebra
elephant/elephants: huge,grey,wise; at the waterhole,in the circus; trumpet,lift the trunk
monkey/monkeys: cheeky,brown,playful; in the jungle,in the zoo; swing,peel a banana
snake/snakes: poisonous,green,long; in the grass,under the stone; hiss,slide away
frog/frogs: green,slimy,small; in the pond,on the lily; croak,leap
tree/trees: tall,old,green; in the orchard,along the avenue; blossom,bear fruit
flower/flowers: yellow,fragrant,wild; in the vase,in the meadow; bloom,wither
river/rivers: wide,deep,muddy; in the valley,under the bridge; flow,flood the fields
mountain/mountains: high,snowy,steep; in the distance,above the clouds; tower,cast a shadow
island/islands: lonely,green,rocky; in the bay,off the coast; lie in the mist,sink
ship/ships: white,old,large; in the harbour,on the horizon; sail,carry cargo
boat/boats: small,wooden,leaky; at the jetty,on the lake; float,rock on the waves
train/trains: fast,late,crowded; at the station,in the tunnel; depart,whistle
car/cars: red,new,fast; in the garage,on the motorway; honk,overtake the lorry
bridge/bridges: stone,long,narrow; over the river,near the mill; shake,span the gorge
house/houses: big,white,empty; on the corner,in the suburb; stand,belong to the bank
door/doors: locked,heavy,green; in the hall,at the entrance; open,slam
window/windows: open,dirty,broken; in the gable,of the shop; rattle,face the street
table/tables: round,oak,wobbly; in the dining room,by the window; wobble,seat eight people
chair/chairs: comfortable,wooden,broken; at the table,on the porch; creak,tip over
lamp/lamps: bright,brass,dim; on the desk,in the hallway; flicker,glow
clock/clocks: old,loud,broken; on the tower,on the mantel; strike,tick
book/books: thick,old,boring; in the library,on the bedside table; tell of adventures,sell well
letter/letters: sealed,long,angry; in the mailbox,in the envelope; arrive,contain bad news
picture/pictures: framed,faded,modern; in the gallery,over the sofa; hang,show a landscape
song/songs: sad,old,popular; on the radio,in the musical; end,make people dance
coin/coins: golden,old,foreign; in the purse,in the fountain; glitter,roll away
key/keys: rusty,small,lost; in the lock,under the mat; turn,open the gate
bell/bells: bronze,loud,cracked; in the steeple,on the bicycle; chime,ring
star/stars: bright,distant,golden; in the sky,above the roof; twinkle,guide the sailors
cloud/clouds: dark,white,fluffy; over the hills,in the sky; drift,bring rain
storm/storms: violent,sudden,heavy; over the sea,on the coast; rage,uproot trees
apple/apples: red,sour,ripe; in the basket,on the branch; ripen,taste sweet
orange/oranges: juicy,sweet,round; in the crate,at the market; ripen,smell fresh
egg/eggs: boiled,brown,fresh; in the carton,in the nest; crack,hatch
cake/cakes: creamy,sweet,small; on the plate,in the bakery; crumble,melt on the tongue
shoe/shoes: leather,old,tight; in the box,at the cobbler; squeak,pinch
hat/hats: straw,black,silly; on the hook,at the milliner; fit,blow away
coat/coats: warm,long,woollen; in the cloakroom,on the hanger; hang,keep out the cold
soldier/soldiers: brave,wounded,young; in the trench,on parade; march,obey the order
artist/artists: poor,gifted,famous; in the studio,at the exhibition; paint,sign the canvas
pupil/pupils: lazy,clever,absent; in the classroom,on the school bus; listen,raise a hand
"""

NUMBER_PATTERNS = (
    "{t.a} {t.sg} {t.s} .",
    "the {t.pl} {t.base} .",
    "there is {t.a_adj} {t.adj} {t.sg} {t.place} .",
    "there are {many} {t.adj} {t.pl} {t.place} .",
    "one {t.sg} is {t.adj} , but the other {t.pl} are not .",
    "this {t.sg} {t.place} always {t.s} .",
    "these {t.pl} {t.place} always {t.base} .",
    "{many} {t.pl} {t.base} {t.place} .",
    "every {t.sg} {t.place} {t.s} .",
    "the {t.adj} {t.sg} {t.place} was {colour} .",
    "the {t.adj} {t.pl} {t.place} were {colour} .",
    "{person.name} saw {many} {t.pl} {t.place} .",
    "{person.name} saw {t.a_adj} {t.adj} {t.sg} {t.place} .",
    "how many {t.pl} are {t.place} ?",
    "is there {t.a} {t.sg} {t.place} ?",
    "why does the {t.sg} {t.base} {t.place} ?",
    "why do the {t.pl} {t.base} {t.place} ?",
    "the {t.sg} {t.past} , and then all the {t.pl} {t.past} .",
    "most {t.pl} are {t.adj} , but this {t.sg} is not .",
    "the {t.sg} and the {u.sg} are {t.place} .",
    "the {t.pl} and the {u.pl} were {u.place} .",
    "a few {t.pl} were {t.ing} {time} .",
    "the {t.sg} was {t.ing} {t.place} {time} .",
    "{person.name} likes {t.adj} {t.pl} , but {person.he} does not like {u.pl} .",
    "{person.name} looked at {person.his} {t.adj} {t.sg} {t.place} .",
    "where are the {t.adj} {t.pl} ? they are {t.place} .",
    "where is the {t.adj} {t.sg} ? it is {t.place} .",
    '" look at the {t.pl} {t.place} ! " said {person.name} .',
)

# Words and phrases that fill a slot of their own, separated by commas.
WORDS: dict[str, str] = {
    "place": "market,station,river,bridge,church,harbour,school,park,village,library,"
    "square,museum,garden,hospital,mill,bakery",
    "drink": "tea,coffee,cocoa,milk",
    "food": "soup,bread and cheese,porridge,fried eggs,fish,pancakes,rice,apple pie,salad,noodles",
    "colour": "red,blue,green,white,black,yellow,brown,grey,purple,pink",
    "furniture": "table,sofa,bench,armchair,bed,cupboard,stool,desk",
    "weather": "rain,storm,snow,wind,fog,thunder,frost,sunshine,hail",
    "temperature": "mild,cool,warm,stormy,rainy,foggy,sunny,windy",
    "season": "spring,summer,autumn,winter",
    "pet": "dog,cat,parrot,rabbit,pony,canary,goldfish,tortoise",
    "number": "two,three,four,five,six,seven,eight,nine,ten,eleven,twelve,twenty,thirty,forty",
    "many": "many,several,two,three,some,five,a few,ten,hundreds of",
    "time": "yesterday,in the morning,at noon,last night,in the evening,on monday,"
    "on friday,in june,in winter,a year ago,this week,after the war,before dawn,on market day",
}
