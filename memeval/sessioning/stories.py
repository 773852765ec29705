"""What happens to people: storylines whose steps follow one another in time.

A persona is in one storyline at a time and goes through it step by step; the value that the first
step names stays the same to the last. Each step is a node, and following it is the only edge.
"""

from __future__ import annotations

from dataclasses import dataclass

from memeval.sessioning import values as v
from memeval.sessioning.values import Values


@dataclass(frozen=True, slots=True)
class Story:
    """A chain of events.

    Attributes
    ----------
    key : str
        Its name in unit labels.
    cues : tuple of str
        Beginnings of words by which a question asks for it.
    values : Values
        What it is about.
    steps : tuple of tuple of str
        For each event the ways to say it, with ``{who}`` and ``{value}``.
    """

    key: str
    cues: tuple[str, ...]
    values: Values
    steps: tuple[tuple[str, ...], ...]

    def say(self, who: str, value: int, step: int, wording: int) -> str:
        """Write one event in one of its wordings, counted round.

        Examples
        --------
        >>> STORIES[0].say("Magnus", 2, 1, 0)
        'Magnus has bought the tickets to Bilbao.'
        """
        said = self.steps[step]
        return said[wording % len(said)].format(who=who, value=self.values.say(value))


def _story(key: str, cues: str, values: Values, *steps: tuple[str, ...]) -> Story:
    return Story(key, tuple(cues.split()), values, steps)


STORIES = (
    _story("trip", "trip travel ticket flight hotel", v.TOWNS,
        ("{who} wants to see {value} once.", "{who} dreams of a week in {value}."),
        ("{who} has bought the tickets to {value}.", "The journey of {who} to {value} is booked."),
        ("{who} has left for {value}.", "{who} is on the way to {value} since this morning."),
        ("{who} is back from {value}, tired and happy.",
         "{who} came home from {value} last night."),
        ("{who} showed everybody the pictures from {value}.",
         "{who} had an evening with slides from {value}.")),
    _story("job", "job work office apply manage", v.TOWNS,
        ("{who} has applied for a job in {value}.", "{who} sent an application to {value}."),
        ("{who} was invited to an interview in {value}.",
         "{value} has asked {who} to come and talk."),
        ("{who} got the job in {value}.", "The post in {value} goes to {who}."),
        ("{who} had the first day at work in {value}.", "{who} began in {value} on Monday.")),
    _story("move", "move flat live address home rent", v.ADDRESSES,
        ("{who} has looked at a flat at {value}.", "{who} went to see the flat at {value}."),
        ("{who} is going to take the flat at {value}.",
         "{who} has signed for the flat at {value}."),
        ("{who} is packing for {value}.", "Boxes everywhere: {who} moves to {value} soon."),
        ("{who} had a house-warming at {value}.", "{who} invited friends to the flat at {value}.")),
    _story("course", "course language class learn exam teach", v.TONGUES,
        ("{who} has put down a name for a class in {value}.", "{who} will try a class in {value}."),
        ("{who} had the first evening of {value}.", "{who} can greet people in {value} now."),
        ("{who} took the exam in {value}.", "The exam in {value} is behind {who}."),
        ("{who} passed the exam in {value}.", "{who} has a certificate in {value}.")),
    _story("guest", "visit guest friend meet", v.PEOPLE,
        ("{who} has written to {value} after years.", "{who} looked up {value} after a long time."),
        ("{value} will visit {who} soon.", "{who} expects {value} for a weekend."),
        ("{value} arrived at the place of {who}.", "{who} picked up {value} at the station."),
        ("{value} has left {who} again.", "{who} took {value} back to the station.")),
    _story("garden", "garden plant tree paint", v.COLOURS,
        ("{who} plans a summer house in {value}.", "{who} drew a summer house, all in {value}."),
        ("{who} bought the paint, {value}, for the summer house.",
         "The paint for the summer house of {who} has come, {value}."),
        ("{who} has finished the summer house in {value}.",
         "The {value} summer house of {who} stands."),
        ("{who} gave a party at the {value} summer house.",
         "{who} had a first evening in the {value} summer house.")),
    _story("reading", "book read talk club", v.BOOKS,
        ("{who} was given {value} as a present.", "{who} found {value} in a second-hand shop."),
        ("{who} is half way through {value}.", "{who} cannot put {value} down."),
        ("{who} has finished {value}.", "{who} read the last page of {value}."),
        ("{who} lent {value} to a friend.", "{who} passed {value} on.")),
    _story("pet", "pet cat dog vet animal", v.PETS,
        ("{who} has seen {value} at the shelter.", "{who} fell for {value} at the shelter."),
        ("{who} took {value} home.", "{value} moved in with {who}."),
        ("{who} was at the clinic with {value}.", "{value} was at the clinic, and {who} worried."),
        ("{who} says that {value} is well again.", "{value} is up again, {who} is relieved.")),
)  # fmt: skip
