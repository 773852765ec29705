"""The near-duplicate rule on 66 pairs: 26 that say one thing, 40 that do not.

The pairs were written for this test after the rule was fixed, by kind, and none was changed for it.
"""

from __future__ import annotations

from collections.abc import Sequence

from memeval.neardup import near_duplicate_key

SURFACE = [
    ("Mara's locker is number 88", "mara's locker is number 88."),
    ("The kiln cools overnight", "- The kiln cools overnight"),
    ("The kiln cools overnight", "THE KILN COOLS OVERNIGHT!"),
    ("Bins go out on Tuesday", "1. Bins go out on Tuesday"),
    ("Bins go out on Tuesday", "[2026-04-02 08:15] user: Bins go out on Tuesday"),
    ("Renée pays in cash", "Renee pays in cash"),
    ("The ferry leaves at 6:40", "“The ferry leaves at 6:40”"),
    ("Otto keeps bees", "  Otto   keeps bees  "),
]
SMALL_EDITS = [
    ("Otto doesn't drive", "Otto does not drive"),
    ("The hall costs 2,500 a day", "The hall costs 2500 a day"),
    ("The soup is really salty", "The soup is salty"),
    ("Please lock the shed", "Lock the shed"),
    ("Pia can't eat nuts", "Pia cannot eat nuts"),
    ("Otto's bike has a flat tyre", "Otto's bike has got a flat tyre"),
    ("The meeting was moved to Friday", "The meeting has moved to Friday"),
    ("Pia plays the viola", "Pia plays viola in her free time"),
]
PARAPHRASES = [
    ("Otto is allergic to wasps", "Wasp stings are dangerous for Otto"),
    ("The heating broke in January", "In January there was no heating"),
    ("Pia starts work at seven", "Pia's shift begins at 7"),
    ("The cat sleeps on the boiler", "You find the cat asleep on top of the boiler"),
    ("Nadja moved out in May", "Since May Nadja lives elsewhere"),
    ("The dentist is on the third floor", "Take the lift to floor three for the dentist"),
    ("Lev prefers tea to coffee", "Lev would rather drink tea"),
    ("The boat needs a new sail", "A new sail has to be bought for the boat"),
    ("Ida's birthday is 9 March", "Ida was born on the ninth of March"),
    ("Send the invoice to Grete", "Grete should get the invoice"),
]
OTHER_VALUE = [
    ("Mara's locker is number 88", "Mara's locker is number 83"),
    ("The ferry leaves at 6:40", "The ferry leaves at 6:45"),
    ("Bins go out on Tuesday", "Bins go out on Thursday"),
    ("The hall costs 2,500 a day", "The hall costs 2,050 a day"),
    ("Ida's birthday is 9 March", "Ida's birthday is 9 May"),
    ("The door code is 4417", "The door code is 4471"),
    ("The tank holds 40 litres", "The tank holds 4.0 litres"),
    ("Paint the fence green", "Paint the fence grey"),
    ("The lease ends in June", "The lease ends in July"),
    ("Pia takes two sugars", "Pia takes three sugars"),
]
OTHER_ENTITY = [
    ("Otto keeps bees", "Otis keeps bees"),
    ("Lev prefers tea", "Lea prefers tea"),
    ("Send the invoice to Grete", "Send the invoice to Greta"),
    ("The cat sleeps on the boiler", "The dog sleeps on the boiler"),
    ("The dentist is on the third floor", "The notary is on the third floor"),
    ("Pia plays the viola", "Pia plays the violin"),
    ("The keys are with the porter", "The keys are with the painter"),
    ("The van is parked in Hull", "The van is parked in Hall"),
]
NEGATED = [
    ("Otto eats fish", "Otto does not eat fish"),
    ("Pia can drive", "Pia can't drive"),
    ("The shed is locked", "The shed is never locked"),
    ("Everybody came to the rehearsal", "Nobody came to the rehearsal"),
    ("The soup has salt in it", "The soup has no salt in it"),
    ("Lev will come on Sunday", "Lev won't come on Sunday"),
]
ROLES = [
    ("Otto lent Pia his drill", "Pia lent Otto his drill"),
    ("Lev reports to Nadja", "Nadja reports to Lev"),
    ("The train from Riga to Vilnius", "The train from Vilnius to Riga"),
    ("Ida is taller than Grete", "Grete is taller than Ida"),
    ("Red wine before white wine", "White wine before red wine"),
    ("The cat chased the dog", "The dog chased the cat"),
]
SUPERSETS = [
    ("Otto keeps bees", "Otto keeps bees on the roof"),
    ("Pia starts work at seven", "Pia starts work at seven on Mondays"),
    ("The boat needs a new sail", "The boat needs a new sail and an anchor"),
    ("Lev prefers tea", "Lev prefers tea without milk"),
    ("The lease ends in June", "The lease ends in June unless it is renewed"),
    ("The hall is booked", "The hall is booked twice"),
]
OTHERS = [
    ("Is the shed locked?", "The shed is locked."),
    ("Pia likes the red coat", "Lev likes the red coat"),
    ("The kiln cools overnight", "The kiln cooled overnight"),
    ("Mara: tickets are booked", "Otto: tickets are booked"),
]


def merged(pairs: Sequence[tuple[str, str]]) -> int:
    return sum(near_duplicate_key(left) == near_duplicate_key(right) for left, right in pairs)


def test_pairs_that_say_the_same_are_merged_where_the_words_are_nearly_the_same() -> None:
    assert merged(SURFACE) == 8
    assert merged(SMALL_EDITS) == 5
    assert merged(PARAPHRASES) == 0
    assert len(SURFACE + SMALL_EDITS + PARAPHRASES) == 26


def test_no_pair_of_different_things_is_merged() -> None:
    different = OTHER_VALUE + OTHER_ENTITY + NEGATED + ROLES + SUPERSETS + OTHERS
    assert len(different) == 40
    assert merged(different) == 0
