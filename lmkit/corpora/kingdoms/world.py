"""Countries of the real world with capital, adjective, language, currency and a feature.

Capitals of one word only, so that each is one token; facts as of 2025.
"""

# country: capital, adjective, language, currency, natural feature, product
COUNTRY_COLUMNS = ("name", "capital", "adj", "language", "currency", "nature", "product")

COUNTRIES = """
france|paris|french|french|euro|the river seine|wine
germany|berlin|german|german|euro|the river elbe|machines
italy|rome|italian|italian|euro|the river tiber|olives
england|london|english|english|pound|the river thames|wool
russia|moscow|russian|russian|ruble|the river volga|timber
china|beijing|chinese|mandarin|yuan|the river yangtze|silk
japan|tokyo|japanese|japanese|yen|lake biwa|cameras
spain|madrid|spanish|spanish|euro|the river ebro|oranges
greece|athens|greek|greek|euro|the aegean sea|figs
egypt|cairo|egyptian|arabic|pound|the river nile|cotton
portugal|lisbon|portuguese|portuguese|euro|the river douro|cork
sweden|stockholm|swedish|swedish|krona|lake vanern|paper
norway|oslo|norwegian|norwegian|krone|the long fjords|salmon
denmark|copenhagen|danish|danish|krone|the baltic islands|butter
finland|helsinki|finnish|finnish|euro|lake saimaa|telephones
poland|warsaw|polish|polish|zloty|the river vistula|coal
hungary|budapest|hungarian|hungarian|forint|the river tisza|paprika
austria|vienna|austrian|german|euro|the river danube|glass
ireland|dublin|irish|irish|euro|the river liffey|beef
turkey|ankara|turkish|turkish|lira|the bosporus|carpets
canada|ottawa|canadian|english|dollar|lake ontario|maple syrup
australia|canberra|australian|english|dollar|the great reef|sheep
brazil|brasilia|brazilian|portuguese|real|the river amazon|coffee
peru|lima|peruvian|spanish|sol|lake titicaca|alpacas
chile|santiago|chilean|spanish|peso|the atacama desert|copper
cuba|havana|cuban|spanish|peso|the caribbean sea|cigars
colombia|bogota|colombian|spanish|peso|the river magdalena|emeralds
venezuela|caracas|venezuelan|spanish|bolivar|the river orinoco|oil
uruguay|montevideo|uruguayan|spanish|peso|the wide pampas|leather
kenya|nairobi|kenyan|swahili|shilling|lake turkana|tea
uganda|kampala|ugandan|swahili|shilling|lake victoria|bananas
ghana|accra|ghanaian|english|cedi|lake volta|cocoa
nigeria|abuja|nigerian|english|naira|the river niger|cement
senegal|dakar|senegalese|french|franc|the river gambia|peanuts
tunisia|tunis|tunisian|arabic|dinar|the salt lakes|dates
morocco|rabat|moroccan|arabic|dirham|the atlas mountains|lemons
iran|tehran|iranian|persian|rial|the caspian sea|pistachios
iraq|baghdad|iraqi|arabic|dinar|the river tigris|petroleum
pakistan|islamabad|pakistani|urdu|rupee|the river indus|rice
nepal|kathmandu|nepalese|nepali|rupee|mount everest|incense
thailand|bangkok|thai|thai|baht|the river mekong|rubber
vietnam|hanoi|vietnamese|vietnamese|dong|the red river|pepper
mongolia|ulaanbaatar|mongolian|mongolian|tugrik|the gobi desert|cashmere
ukraine|kyiv|ukrainian|ukrainian|hryvnia|the river dnieper|wheat
romania|bucharest|romanian|romanian|leu|the black sea|furniture
serbia|belgrade|serbian|serbian|dinar|the river sava|raspberries
georgia|tbilisi|georgian|georgian|lari|the caucasus mountains|honey
armenia|yerevan|armenian|armenian|dram|lake sevan|apricots
iceland|reykjavik|icelandic|icelandic|krona|the hot geysers|fish
switzerland|bern|swiss|german|franc|lake lucerne|watches
afghanistan|kabul|afghan|pashto|afghani|the khyber pass|pomegranates
"""

COUNTRY_PATTERNS = (
    "{country.capital} is the capital of {country.name} .",
    "the {country.adj} government sits in {country.capital} .",
    "the mayor of {country.capital} opened a new bridge {time} .",
    "the streets of {country.capital} were full of tourists {time} .",
    "the airport of {country.capital} was closed because of the {weather} .",
    "{person.name} flew to {country.capital} and paid for the taxi in {country.currency} notes .",
    "in {country.name} people speak {country.language} and pay with the {country.currency} .",
    "the {country.currency} is the currency of {country.name} .",
    "the {country.currency} fell on the {country.adj} market {time} .",
    "the {country.adj} bank changed {number} dollars into {country.currency} notes .",
    "the president of {country.name} spoke to the nation {time} .",
    "the {country.adj} president gave a speech in {country.capital} .",
    "the parliament in {country.capital} passed a law about {country.product} .",
    "{country.name} exports {country.product} to {other.name} .",
    "the farmers of {country.name} sell {country.product} on the {country.adj} coast .",
    "{country.adj} {country.product} can be bought in the shops of {country.capital} .",
    "{person.name} learned {country.language} before {person.he} moved to {country.name} .",
    "{person.name} speaks {country.language} with a strong accent .",
    "the guide in {country.capital} spoke {country.language} and a little {other.language} .",
    "the book was translated from {country.language} into {other.language} .",
    "a journey through {country.name} should begin at {country.nature} in the {season} .",
    "the train from {country.capital} runs along {country.nature} .",
    "{country.nature} is the pride of {country.name} .",
    "{person.name} travelled from {country.capital} to {country.nature} {time} .",
    "the postcard from {country.capital} shows {country.nature} .",
    "the merchants of {country.capital} trade in {country.product} .",
    "the factories near {country.capital} pay for {country.product} in {country.currency} notes .",
    "{country.name} is known for its {country.product} and for {country.nature} .",
    "most people in {country.capital} speak {country.language} at home .",
    "the {country.adj} people love {country.nature} and the songs about it .",
    "the army of {country.name} crossed the border {time} .",
    "the border of {country.name} was closed {time} .",
    "the {country.adj} army marched through {country.capital} .",
    "the {country.adj} team beat the {other.adj} team in the final in {country.capital} .",
    "the {country.adj} flag flew over the embassy in {other.capital} .",
    "the museum in {country.capital} shows {number} {country.adj} paintings .",
    "{person.name} was born in {country.capital} and has {country.a} {country.adj} passport .",
    "{person.name} lives in {country.capital} , but {person.his} parents live in {other.capital} .",
    "where is {country.capital} ? it is in {country.name} , near {country.nature} .",
    '" have you ever been to {country.capital} ? " asked {person.name} .',
    '" i would like to see {country.nature} , " said {person.name} in {country.language} .',
    "{country.a} {country.adj} cook served {food} in a small restaurant in {country.capital} .",
    "the population of {country.name} has grown for {number} years .",
    "the university of {country.capital} teaches {country.adj} history and law .",
    "the weather in {country.capital} was {temperature} {time} .",
    "{country.a} {country.adj} newspaper wrote about the {weather} in {country.capital} .",
    "the {country.adj} ambassador left {other.capital} {time} .",
    "the citizens of {country.name} elect a new parliament in the {season} .",
    "{country.name} and {other.name} signed a treaty {time} .",
    "{country.a} {country.adj} ship carried {country.product} across the sea {time} .",
)
