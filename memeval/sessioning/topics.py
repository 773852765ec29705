"""What is told about people: attributes with one value at a time, each in several wordings."""

from __future__ import annotations

from dataclasses import dataclass

from memeval.sessioning import values as v
from memeval.sessioning.values import Values


@dataclass(frozen=True, slots=True)
class Topic:
    """One attribute of a person.

    Attributes
    ----------
    key : str
        Its name in unit labels.
    cues : tuple of str
        Beginnings of words by which a question asks for it.
    values : Values
        What it may be.
    wordings : tuple of str
        At least three ways to say it, with ``{who}`` or ``{whose}``, and ``{value}``.
    german : tuple of str
        The same in German; empty where the values are English words.
    """

    key: str
    cues: tuple[str, ...]
    values: Values
    wordings: tuple[str, ...]
    german: tuple[str, ...] = ()

    def say(self, who: str, value: int, wording: int, german: bool = False) -> str:
        """Write a value in one of the wordings, counted round.

        Examples
        --------
        >>> TOPICS[1].say("Magnus", 0, 0)
        'Magnus works from the Aberdeen office.'
        """
        said = self.german if german and self.german else self.wordings
        return said[wording % len(said)].format(
            who=who, whose=f"{who}'s", value=self.values.say(value)
        )


def _topic(
    key: str, cues: str, values: Values, *wordings: str, german: tuple[str, ...] = ()
) -> Topic:
    return Topic(key, tuple(cues.split()), values, wordings, german)


# In the order of their Zipf ranks.
TOPICS = (
    _topic("lunch", "lunch eat", v.EATERIES,
        "{who} has lunch at {value}.",
        "At noon {who} usually eats at {value}.",
        "{whose} lunch spot on workdays is {value}."),
    _topic("office", "office work desk", v.TOWNS,
        "{who} works from the {value} office.",
        "The office that {who} goes to is the one in {value}.",
        "{whose} desk stands in the {value} office.",
        german=("{who} arbeitet im Büro in {value}.",
                "Das Büro, in das {who} geht, liegt in {value}.")),
    _topic("phone", "phone number call reach contact mobile", v.PHONES,
        "{whose} phone number is {value}.",
        "{who} can be reached on {value}.",
        "To call {who}, dial {value}.",
        german=("{who} ist unter {value} zu erreichen.", "Wer {who} anrufen will, wählt {value}.")),
    _topic("coffee", "coffee tea drink order", v.DRINKS,
        "{who} always orders {value}.",
        "{whose} usual drink is {value}.",
        "For {who} it is {value}, as always."),
    _topic("address", "address live lives home move post", v.ADDRESSES,
        "{who} lives at {value}.",
        "{whose} address is {value}.",
        "Post for {who} goes to {value}.",
        german=("{who} wohnt in {value}.", "Post an {who} geht an {value}.")),
    _topic("allergy", "allerg eat food", v.FOODS,
        "{who} is allergic to {value}.",
        "{whose} allergy is to {value}.",
        "Nothing with {value} for {who}, because of the allergy."),
    _topic("birthday", "birthday born birth", v.DATES,
        "{whose} birthday is on {value}.",
        "{who} was born on {value}.",
        "On {value} it is {whose} birthday."),
    _topic("manager", "manage boss report lead", v.PEOPLE,
        "{value} manages {who}.",
        "{who} reports to {value}.",
        "{whose} manager is {value}.",
        german=("{value} leitet die Arbeit von {who}.", "{who} berichtet an {value}.")),
    _topic("dish", "dish food cook recipe favourite", v.DISHES,
        "{whose} favourite dish is {value}.",
        "Nothing beats {value}, says {who}.",
        "When it is {whose} turn to choose, there will be {value}."),
    _topic("lesson", "lesson class course teach swim", v.SLOTS,
        "{whose} swimming lesson is on {value}.",
        "{who} has a swimming lesson every {value}.",
        "Swimming for {who} is on {value}."),
    _topic("emergency", "emergency contact", v.PEOPLE,
        "{whose} emergency contact is {value}.",
        "In an emergency {value} should be told about {who}.",
        "{who} named {value} as the contact for emergencies.",
        german=("Im Notfall ist für {who} Kontakt zu {value} aufzunehmen.",
                "{who} hat {value} als Notfallkontakt genannt.")),
    _topic("bike", "bike bicycle", v.PLACES,
        "{who} keeps the bike in {value}.",
        "{whose} bike is locked up in {value}.",
        "The bike of {who} stands in {value}."),
    _topic("book", "book read", v.BOOKS,
        "{who} is reading {value}.",
        "{whose} book at the moment is {value}.",
        "On the bedside table of {who} lies {value}."),
    _topic("doctor", "doctor allergist dentist paediatrician practice", v.DOCTORS,
        "{whose} dentist is {value}.",
        "{who} sees {value} about the teeth.",
        "The dentist who treats {who} is {value}."),
    _topic("locker", "locker", v.NUMBERS,
        "{whose} locker is number {value}.",
        "Locker {value} belongs to {who}.",
        "{who} uses locker {value}.",
        german=("Das Schließfach {value} gehört {who}.", "{who} nutzt das Schließfach {value}.")),
    _topic("parking", "park car garage permit", v.SPACES,
        "{whose} parking space is {value}.",
        "{who} parks in space {value}.",
        "Space {value} in the garage is reserved for {who}.",
        german=("{who} parkt auf dem Platz {value}.",
                "Der Stellplatz {value} gehört {who}.")),
    _topic("pet", "pet cat dog animal", v.PETS,
        "{who} lives with {value}.",
        "At home {who} has {value}.",
        "{whose} pet is {value}."),
    _topic("dose", "mg medicine dose tablet take", v.DOSES,
        "{who} takes {value} of magnesium.",
        "{whose} dose of magnesium is {value}.",
        "For {who} the magnesium was set at {value}."),
    _topic("language", "language learn teach speak", v.TONGUES,
        "{who} is learning {value}.",
        "{whose} evening class is in {value}.",
        "The language that {who} studies is {value}."),
    _topic("school", "school class child kindergarten", v.SCHOOLS,
        "{whose} child goes to {value}.",
        "The child of {who} is at {value}.",
        "{who} has a child at {value}."),
    _topic("train", "train commute leave", v.TIMES,
        "{who} takes the train at {value}.",
        "{whose} train leaves at {value}.",
        "The {value} train is the one that {who} catches.",
        german=("{who} nimmt den Zug um {value}.", "Um {value} fährt der Zug von {who}.")),
    _topic("shoes", "shoe size", v.SIZES,
        "{whose} shoe size is {value}.",
        "{who} wears shoes in size {value}.",
        "Shoes for {who} are bought in size {value}."),
    _topic("insurance", "insurance policy", v.CODES,
        "{whose} insurance policy has the number {value}.",
        "{who} is insured under {value}.",
        "The policy of {who} runs under {value}.",
        german=("{who} ist unter {value} versichert.",
                "Die Police von {who} hat die Nummer {value}.")),
    _topic("gym", "gym sport train run", v.SLOTS,
        "{who} goes to the gym on {value}.",
        "{whose} gym session is on {value}.",
        "Training for {who} is on {value}."),
    _topic("hometown", "grow grew child hometown", v.TOWNS,
        "{who} spent the first school years in {value}.",
        "{whose} childhood town is {value}.",
        "As a child {who} lived in {value}.",
        german=("{who} ist in {value} zur Schule gegangen.",
                "Die Kindheit von {who} war in {value}.")),
    _topic("paint", "paint colour wall room", v.COLOURS,
        "{whose} bedroom is painted {value}.",
        "{who} chose {value} for the bedroom.",
        "The bedroom walls at {whose} are {value}."),
    _topic("library", "library card", v.CODES,
        "{whose} library card is {value}.",
        "{who} borrows on the card {value}.",
        "The library knows {who} under {value}.",
        german=("{who} leiht mit der Karte {value} aus.",
                "Die Bücherei führt {who} unter {value}.")),
    _topic("rent", "rent flat pay contract", v.SUMS,
        "{who} pays {value} for the room.",
        "{whose} rent is {value}.",
        "The room costs {who} {value} a month."),
    _topic("badge", "badge number", v.NUMBERS,
        "{whose} badge has the number {value}.",
        "{who} wears badge {value}.",
        "Badge {value} was issued to {who}.",
        german=("{who} trägt den Ausweis {value}.",
                "Der Ausweis {value} wurde für {who} ausgestellt.")),
    _topic("key", "key spare", v.PEOPLE,
        "{value} keeps the spare key of {who}.",
        "{whose} spare key is with {value}.",
        "{who} left a spare key with {value}."),
    _topic("hotel", "hotel booking trip travel", v.TOWNS,
        "{who} has a hotel booking in {value}.",
        "{whose} hotel for the spring is in {value}.",
        "The hotel that {who} booked is in {value}.",
        german=("{who} hat ein Hotel in {value} gebucht.",
                "Das Hotel von {who} liegt in {value}.")),
    _topic("wake", "wake alarm sleep morning", v.TIMES,
        "{who} gets up at {value}.",
        "{whose} alarm clock rings at {value}.",
        "For {who} the night ends at {value}.",
        german=("{who} steht um {value} auf.", "Um {value} klingelt der Wecker von {who}.")),
)  # fmt: skip

# What is told for a while and then deleted.
PASSING = (
    _topic("pickup", "parcel pick-up code", v.CODES,
        "The pick-up code for {whose} parcel is {value}.",
        "{whose} parcel is handed out for the code {value}.",
        "With {value} the parcel for {who} can be collected."),
    _topic("room", "meeting room booked", v.SPACES,
        "{who} has booked meeting room {value} for this week.",
        "Meeting room {value} is taken by {who} this week.",
        "{whose} meetings this week are in room {value}."),
    _topic("guest", "guest wifi password", v.CODES,
        "{whose} guest access for the wifi is {value}.",
        "For the visit {who} gets into the wifi with {value}.",
        "The wifi lets {who} in with {value} until Sunday."),
)  # fmt: skip

# How an update begins; a silent contradiction has none of these.
UPDATE_LEADS = ("Update: ", "Correction: ", "As of this week: ", "Change of plan: ", "New: ")
