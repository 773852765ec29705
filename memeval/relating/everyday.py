"""Invented everyday records, for relations that are checked without a suite.

Texts of `FAMILIES` and `TRAITS` stand in every world, since faults of stores show on them: records
that begin alike and differ in one value, long ones with numbers at their end, negations.
"""

from __future__ import annotations

from typing import NamedTuple


class Family(NamedTuple):
    """Three texts that begin alike: two differ in one value, the third is longer."""

    one: str
    twin: str
    longer: str


FAMILIES: tuple[Family, ...] = (
    Family(
        "The gate code of our allotment is 4471.",
        "The gate code of our allotment is 4472.",
        "The gate code for the boat house behind the ferry landing, since Easter, reads 9026.",
    ),
    Family(
        "My favourite tea on rainy afternoons is lapsang.",
        "My favourite tea on rainy afternoons is genmaicha.",
        "My favourite tea shop closes at seven, except on market days when Gudrun sells bread.",
    ),
    Family(
        "The choir rehearsal takes place in room 214.",
        "The choir rehearsal takes place in room 318.",
        "The choir rehearsal before Advent needs 12 music stands, two lamps and somebody strong.",
    ),
    Family(
        "Uncle Piet's ferry leaves Texel at 16:40.",
        "Uncle Piet's ferry leaves Texel at 17:55.",
        "Uncle Piet's ferry ticket lies inside the blue atlas, beneath the unpaid garage invoice.",
    ),
    Family(
        "The spare key hangs beside the freezer.",
        "The spare key hangs beside the barometer.",
        "The spare key of the caravan was lent to Ingrid until she has finished painting it.",
    ),
)

LONG: tuple[str, ...] = (
    "Minutes of the tenants' evening: the lift gets repaired in October, bicycles must leave the "
    "corridor, Mrs Adeyemi collects signatures against the skylight, the laundry timetable is "
    "drawn by lot, and whoever still owes money for the hedge pays 38 euros and 50 cents to the "
    "caretaker before the 21st.",
    "Recipe from the mountain hut: simmer lentils with cumin and dried apricots, fold in spinach, "
    "let everything rest beneath a cloth, roast the almonds separately, never salt early, and "
    "serve with yoghurt; for 24 hikers multiply by six and buy 3500 grams of lentils in the "
    "village.",
    "Handover for the night shift: pump three vibrates above 1850 revolutions, the replacement "
    "bearing waits in crate 77, Oskar telephoned the supplier twice, nobody may silence the alarm "
    "without writing it down, and the pressure gauge in hall B shows 0.4 bar too much.",
)

NEGATIONS: tuple[str, ...] = (
    "Bartholomew does not eat shellfish or walnuts.",
    "Never phone the Lisbon office on a Thursday.",
    "The upstairs neighbours have no objection to piano practice.",
)


class Told(NamedTuple):
    """A record, and two wordings of one question that it answers."""

    text: str
    asked: str
    otherwise: str


POOL: tuple[Told, ...] = tuple(
    Told(*map(str.strip, block.splitlines()))
    for block in """\
Zainab collects vintage postage stamps from Peru.
What does Zainab collect?
Who gathers old Peruvian stamps?

The accountant moved into Harbour Street 19.
Where did the accountant move?
Which address has our bookkeeper now?

Our tent has a torn zip, repair it by June.
What is torn on our tent?
Which camping gear needs mending before summer?

Kwame learned to juggle with oranges last winter.
What did Kwame learn last winter?
Who juggles fruit?

The printer on floor four jams with recycled paper.
Why does the printer jam?
What blocks the printing machine upstairs?

Grandma's hearing aid takes size 312 batteries.
Which batteries does Grandma's hearing aid take?
What cells power granny's ear device?

Elif prefers window seats on overnight trains.
Which seats does Elif prefer?
Where does Elif like to sit when travelling at night?

The parrot is called Bismarck and hates umbrellas.
What is the parrot called?
Name of the bird that fears umbrellas?

Dr Okonkwo switched my prescription to 20 milligrams.
What did Dr Okonkwo switch my prescription to?
How large is my dose since the doctor changed it?

The greenhouse thermostat is set to eleven degrees.
What is the greenhouse thermostat set to?
How warm is it kept for the plants?

Matteo borrowed the circular saw and two clamps.
What did Matteo borrow?
Who has our saw at the moment?

Swimming lessons begin on 3 September at dawn.
When do swimming lessons begin?
Which day does the pool course start?

The museum pass expires when the comet exhibition ends.
When does the museum pass expire?
How long is our gallery ticket valid?

Yuki painted the hallway in pale ochre.
Who painted the hallway?
What colour are the corridor walls?

Somebody dented the scooter near the bakery.
Where was the scooter dented?
What damage was done beside the bread shop?

The beehives were insured for 950 francs.
For how much were the beehives insured?
What would we be paid for lost hives?

Leopold sings baritone and plays the bassoon badly.
What does Leopold play badly?
Who is a baritone?

Passports are kept in the grey filing cabinet.
Where are the passports kept?
In which furniture are our travel documents?

The broadband contract with Telnor runs until 2029.
Until when does the broadband contract run?
When are we free to leave our internet provider?

Fatima's thesis is about medieval irrigation canals.
What is Fatima's thesis about?
Who writes on watering in the Middle Ages?

The wheelbarrow tyre wants 2.1 bar of pressure.
What pressure does the wheelbarrow tyre want?
How hard should the barrow's wheel be pumped?

Jonas swapped his motorbike for a cello.
What did Jonas swap his motorbike for?
Who gave up riding to make music?

Coriander tastes like soap to Henrietta.
What does coriander taste like to Henrietta?
Which herb must Henrietta not be served?

The glacier hike was postponed because of fog.
Why was the glacier hike postponed?
Which trip did bad visibility delay?

Pension papers go to counter 8 of the town hall.
Which counter do pension papers go to?
Where does one hand in retirement forms?

Svetlana renovates harpsichords in a former dairy.
What does Svetlana renovate?
Who repairs old keyboard instruments?

The vet recommended less kibble and more walking.
What did the vet recommend?
How shall the dog lose weight?

Quentin's wedding speech should mention the canoe.
What should Quentin's wedding speech mention?
Which boat belongs in the toast?

The lighthouse webcam restarts each midnight.
When does the lighthouse webcam restart?
At what hour does the camera reboot?

Two crates of elderflower syrup stand in the cellar.
What stands in the cellar?
Where do we store the elderflower drink?
""".strip().split("\n\n")
)
"""Texts that hardly share a word."""

NONSENSE: tuple[str, ...] = (
    "zxqvut blorphek wimzag",
    "qwyxnar fropple dreznik",
    "vlumptic garnoxel byzwen",
    "thrimqua jeblox snuvvery",
    "ploxin quargle mibzut",
    "drazzlewick honqua vexlim",
)
SCOPES: tuple[str, ...] = ("ana", "team_a", "Projekt Nord", "u1", "familie-koch")
