"""Writes posts.csv, the sample corpus of temporal-rumors: every post, place and organisation in it is invented.

Run `python make_posts.py`: the same bytes on every Python from 3.10 on. Two things about the posts make random
splits flattering, and nothing else does:

* near copies: a story is told by up to 13 posts, most of them copies of one another with small edits;
* drift: each event has places, groups, causes and items of its own, half of them met more often in rumours, and
  most of the stock phrases around the claims, which hint weakly at the label, give way to others over the months.

The claims themselves say nothing about the label: rumours and non-rumours draw from the same list.
"""

from __future__ import annotations

import csv
import random
import sys
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import NamedTuple, TypeVar

SEED = 0
STORIES, RUMOURS = 28, 13  # per event; the first counts both classes
MOST_POSTS = 13  # of one story
COPIED = 0.85  # chance that a post after the first is a near copy of an earlier one
SHORTEST, LONGEST = 40, 140  # characters
DAY = 24 * 60 * 60  # seconds
LONGEST_DELAY = 4 * DAY  # from the first post of a story to its last
BEGIN, END = datetime(2021, 1, 1), datetime(2022, 4, 1)
TILT = 0.75  # chance that a story of a class draws a detail from that class's half of the event's list
COMMON = 0.5  # chance that a stock phrase is one that both classes use alike
HINT = 0.72  # chance that a stock phrase comes from the list of the post's own class
RUMOUR, NON_RUMOUR = "rumour", "non-rumour"
OTHER = {RUMOUR: NON_RUMOUR, NON_RUMOUR: RUMOUR}
T = TypeVar("T")
Seasons = tuple[tuple[str, ...], tuple[str, ...]]  # early and late


class Event(NamedTuple):
    """An event; in `sites`, `folk`, `causes` and `items` the first half is talked about more in rumours."""

    slug: str
    start: str
    days: int
    tags: tuple[str, ...]
    matter: str
    bodies: tuple[str, ...]
    sites: tuple[str, ...]
    folk: tuple[str, ...]
    causes: tuple[str, ...]
    items: tuple[str, ...]


EVENTS = (
    Event(
        slug="harbour-fire",
        start="2021-01-11",
        days=82,
        tags=("#PortVeldra", "#VeldraFire", "#harbourfire"),
        matter="the harbour fire",
        bodies=("Veldra Port Trust", "the harbour office", "Lantern Ferries", "the Veldra fire brigade"),
        sites=("Pier 9", "the grain shed", "the old customs hall", "Lantern Quay", "the fish market", "Crane Street"),
        folk=("crane drivers", "night watchmen", "ferry passengers", "fish traders"),
        causes=("a leaking fuel barge", "a box of flares", "a faulty crane motor", "a dropped welding torch"),
        items=("flare guns", "fuel cans", "smoke masks", "fire blankets"),
    ),
    Event(
        slug="river-flood",
        start="2021-03-14",
        days=92,
        tags=("#Osmery", "#OsmeryFlood", "#highwater"),
        matter="the flood",
        bodies=("Osmery River Board", "Nellowby town hall", "the mill owners’ union", "the lock keepers’ office"),
        sites=("Tollen weir", "the mill cellar", "Nellowby dam", "Willow Row", "the cattle bridge", "Upper Lock"),
        folk=("lock keepers", "mill hands", "farmers", "campsite guests"),
        causes=("a sluice left open", "a cracked dam wall", "a week of snow melt", "a blocked storm drain"),
        items=("pump handles", "sluice keys", "sandbags", "rubber boots"),
    ),
    Event(
        slug="metro-outage",
        start="2021-06-05",
        days=80,
        tags=("#Karrowline", "#MetroOutage", "#stuckagain"),
        matter="the metro outage",
        bodies=("Karrowline Metro", "the city transport desk", "Dunmarch Signals", "the drivers’ council"),
        sites=("Tunnel C", "the ghost platform", "Dunmarch depot", "Opal Square", "the east escalators", "Linden Gate"),
        folk=("train drivers", "signal clerks", "commuters", "season-ticket holders"),
        causes=("a hacked signal box", "a rat in the relay room", "a burnt cable", "a failed software update"),
        items=("signal lamps", "master cards", "paper tickets", "water bottles"),
    ),
    Event(
        slug="zoo-escape",
        start="2021-08-13",
        days=83,
        tags=("#Brindlemoor", "#LynxWatch", "#zooescape"),
        matter="the lynx escape",
        bodies=("Brindlemoor Zoo", "the ranger station", "Hazelby council", "the animal rescue trust"),
        sites=("the reptile house", "Gorse Hill", "the feed barn", "Café Orlie", "Hazelby car park", "the otter pond"),
        folk=("zoo keepers", "dog walkers", "school classes", "allotment owners"),
        causes=("a bribed keeper", "a tunnel under the cage", "a fallen tree", "a rusty gate hinge"),
        items=("sedation darts", "cage locks", "visitor maps", "warning signs"),
    ),
    Event(
        slug="bridge-closure",
        start="2021-10-23",
        days=82,
        tags=("#TarrowickBridge", "#bridgeclosed", "#Tarrowick"),
        matter="the bridge closure",
        bodies=("Tarrowick Roads", "the bridge office", "Stonefell Engineering", "the pilot boat service"),
        sites=("the north pylon", "Anchor House", "the toll plaza", "Saddler’s Wharf", "the cycle ramp", "Exit 14"),
        folk=("toll clerks", "rope inspectors", "lorry drivers", "cyclists"),
        causes=("a snapped cable", "a forged safety report", "a barge strike", "a worn expansion joint"),
        items=("steel bolts", "safety reports", "detour maps", "traffic cones"),
    ),
    Event(
        slug="stadium-blackout",
        start="2022-01-03",
        days=78,
        tags=("#QuorrinArena", "#lightsout", "#blackout"),
        matter="the stadium blackout",
        bodies=("Quorrin Arena", "Emberley Power", "the league office", "Quorrin Security"),
        sites=("the away stand", "Gate 7", "the generator room", "the press box", "Juniper Road", "the fan zone"),
        folk=("stewards", "ticket touts", "away fans", "kiosk staff"),
        causes=("a pulled fuse", "a betting ring", "a flooded substation", "a tripped breaker"),
        items=("spare fuses", "fake passes", "phone torches", "refund forms"),
    ),
)

# Each claim in a few wordings. Rumours and non-rumours draw from the same list.
CLAIMS = (
    ("{site} is closed until {day}", "there is no way into {site} before {day}"),
    ("{cause} led to {matter}", "{matter} goes back to {cause}, nothing else"),
    ("{n} {folk} spent the night at {site}", "{site} took in {n} {folk} last night"),
    ("{body} is handing out {item} at {site}", "there are free {item} at {site}, thanks to {body}"),
    ("{item} turned up near {site} this morning", "someone left {item} next to {site}"),
    ("a search team from {body} is at {site}", "{body} has sent a search team to {site}"),
    ("{body} will pay {folk} back from {day}", "refunds for {folk} start {day}, from {body}"),
    ("{folk} were told to stay away from {site}", "{site} is off limits for {folk}"),
    ("nobody at {body} can open {site}", "{body} has lost the only key to {site}"),
    ("{site} was inspected {n} days before {matter}", "inspectors were in {site} just {n} days earlier"),
    ("{body} turned down help from {folk}", "{folk} offered help and {body} said no"),
    ("{n} boxes of {item} are missing from {site}", "{site} is short of {n} boxes of {item}"),
    ("cameras at {site} were off during {matter}", "there is no footage of {site} during {matter}"),
    ("power is back at {site} since {hour}", "the lights are on again at {site}"),
    ("{body} is moving its people out of {site}", "everyone from {body} is leaving {site}"),
    ("{folk} raised {n}00 crowns for {site}", "a whip-round by {folk} made {n}00 crowns for {site}"),
    ("{body} blames {cause}", "{cause} is to blame, if you ask {body}"),
    ("{body} rules out {cause}", "it was not {cause}, {body} says"),
    ("extra buses leave {site} until {hour}", "a bus leaves {site} every {n} minutes"),
    ("{body} orders {n}0 {item} for {site}", "{n}0 more {item} are on their way to {site}"),
    ("schools near {site} start late on {day}", "there is a late start on {day} for schools around {site}"),
    ("{body} was warned about {cause} weeks ago", "a warning about {cause} reached {body} in good time"),
    ("a drone filmed {folk} inside {site}", "drone video shows {folk} in {site}"),
    ("{body} meets {folk} at {site} on {day}", "{folk} get their talk with {body} on {day}"),
    ("there is a strange smell around {site}", "people near {site} notice a strange smell"),
    ("{n} extra guards are on duty at {site}", "{body} put {n} extra guards on {site}"),
    ("{matter} cost {body} {n} million crowns", "{body} faces a bill of {n} million crowns"),
    ("{folk} saw {cause} hours before {matter}", "hours before {matter}, {folk} noticed {cause}"),
    ("shops around {site} are out of {item}", "{item} sold out everywhere near {site}"),
    ("{body} cancels the {day} market at {site}", "there is no market at {site} this {day}"),
    ("the fence round {site} was cut in {n} places", "there are {n} holes in the fence at {site}"),
    ("a film crew asked {folk} to leave {site}", "{folk} had to clear {site} for a film crew"),
    ("{n} volunteers are sorting {item} at {site}", "volunteers are needed for {item} at {site}"),
    ("{body} swaps its night shift after {matter}", "the whole night shift of {body} has been changed"),
    ("{site} will be pulled down on {day}", "{body} wants {site} pulled down by {day}"),
    ("a phone line for {folk} is open until {hour}", "{folk} can ring {body} until {hour}"),
    ("plans of {site} vanished from the files of {body}", "{body} cannot find its plans of {site}"),
    ("{folk} stored {item} in {site} for months", "{site} was full of {item} kept there by {folk}"),
    ("traffic past {site} is down to one lane", "only one lane is open past {site} until {hour}"),
    ("{body} named {n} {folk} in its report", "a report by {body} names {n} {folk}"),
)

# Stock phrases: (early, late) per class; a post of age a, 0 to 1 over the corpus, takes a late one with chance a.
OPENERS = {
    RUMOUR: (
        ("Hearing that", "Unconfirmed:", "Word is", "A friend says", "My cousin swears", "Whispers that"),
        ("Apparently", "Wow:", "So it turns out", "They won’t tell you this:", "Just saw this:", "Word is"),
    ),
    NON_RUMOUR: (
        ("Update:", "Official:", "Just in:", "Statement:", "Reported today:", "From the scene:"),
        ("Latest:", "In brief:", "Good to know:", "Live:", "For the record:", "Update:"),
    ),
}
TAILS = {
    RUMOUR: (
        ("Can anyone confirm?", "Not sure if true.", "Big if true.", "Anyone else hear this?"),
        ("Share before it’s gone", "Make of that what you will 🤔", "Wake up!", "Can anyone confirm?"),
    ),
    NON_RUMOUR: (
        ("More at URL", "Details: URL", "Full story URL", "via @USER"),
        ("Thread 👇 URL", "Pictures: URL", "thanks @USER", "More at URL"),
    ),
}
COMMON_OPENERS = ("", "", "", "", "@USER", "Wait,", "OK,", "Morning all,", "Again:", "😮", "Well,", "Oh dear,")
COMMON_TAILS = ("", "", "", "", "URL", "Stay safe.", "What a week.", "@USER", "😬", "Take care, everyone.")
MARKS = (".", ".", ".", "!", "!!", "…")
SYNONYMS = (
    ("closed", "shut"),
    ("near", "close to"),
    ("around", "near"),
    ("until", "till"),
    ("extra", "additional"),
    ("says", "claims"),
    ("people", "folks"),
    ("before", "ahead of"),
    ("is at", "has reached"),
    ("leaving", "quitting"),
    ("missing", "gone"),
    ("strange", "odd"),
    ("warned", "told"),
    ("names", "lists"),
    ("’", "'"),
)
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


class Post(NamedTuple):
    """A post in parts."""

    opener: str
    claim: str
    mark: str
    tail: str
    tag: str

    def text(self) -> str:
        """The parts joined, with a capital where a sentence starts."""
        claim = self.claim + self.mark
        if self.opener[-1:] in ("", ":", "😮"):
            claim = claim[0].upper() + claim[1:]
        return " ".join(part for part in (self.opener, claim, self.tail, self.tag) if part)


class Writer:
    """Draws everything from `random.Random(seed).random`, which Python promises to keep as it is."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed).random

    def whole(self, below: int) -> int:
        """A whole number from 0 to `below` - 1."""
        return int(self.random() * below)

    def choose(self, options: Sequence[T]) -> T:
        """One of the options."""
        return options[self.whole(len(options))]

    def shuffled(self, options: Sequence[T]) -> list[T]:
        """The options in random order."""
        keys = [self.random() for _ in options]
        return [options[i] for i in sorted(range(len(options)), key=keys.__getitem__)]

    def detail(self, options: Sequence[str], label: str) -> str:
        """A detail of an event, more often from the half that goes with `label` there."""
        half = len(options) // 2
        first = (label == RUMOUR) == (self.random() < TILT)
        return self.choose(options[:half] if first else options[half:])

    def stock(self, phrases: Mapping[str, Seasons], common: Sequence[str], label: str, age: float) -> str:
        """A stock phrase: a common one, or one of the season that hints at the label more often than not."""
        if self.random() < COMMON:
            return self.choose(common)
        hinted = label if self.random() < HINT else OTHER[label]
        return self.choose(phrases[hinted][self.random() < age])

    def tell(self, event: Event, wordings: Sequence[str], slots: dict[str, str], label: str, age: float) -> Post:
        """A story told afresh, within the lengths allowed."""
        while True:
            post = Post(
                opener=self.stock(OPENERS, COMMON_OPENERS, label, age),
                claim=self.choose(wordings).format(**slots),
                mark=self.choose(MARKS),
                tail=self.stock(TAILS, COMMON_TAILS, label, age),
                tag=self.choose(("", *event.tags)),
            )
            if SHORTEST <= len(post.text()) <= LONGEST:
                return post

    def copy(self, post: Post, retold: Post) -> Post:
        """A near copy of `post`: one or two of its parts reworded, or taken from `retold`."""
        while True:
            copy = post
            for _ in range(1 + self.whole(2)):
                part = self.choose(("opener", "mark", "tail", "tag", "claim", "retweet"))
                if part == "retweet":
                    copy = copy._replace(opener="RT @USER:")
                elif part == "claim":
                    old, new = self.choose(SYNONYMS)
                    copy = copy._replace(claim=copy.claim.replace(old, new, 1))
                else:
                    copy = copy._replace(**{part: getattr(retold, part)})
            if SHORTEST <= len(copy.text()) <= LONGEST:
                return copy

    def story(self, event: Event, label: str, wordings: Sequence[str]) -> Iterator[tuple[datetime, str]]:
        """Times and texts of the posts that tell one story."""
        slots = {
            "site": self.detail(event.sites, label),
            "folk": self.detail(event.folk, label),
            "cause": self.detail(event.causes, label),
            "item": self.detail(event.items, label),
            "body": self.choose(event.bodies),
            "matter": event.matter,
            "n": str(3 + self.whole(40)),
            "day": self.choose(DAYS),
            "hour": f"{1 + self.whole(11)} {self.choose(('am', 'pm'))}",
        }
        begin = datetime.fromisoformat(event.start) + timedelta(seconds=self.whole(event.days * DAY))
        more = range(int(MOST_POSTS * self.random() * self.random()))
        delays = [0, *sorted(int(LONGEST_DELAY * self.random() * self.random()) for _ in more)]
        told: list[Post] = []
        for delay in delays:
            time = begin + timedelta(seconds=delay)
            post = self.tell(event, wordings, slots, label, age=(time - BEGIN) / (END - BEGIN))
            if told and self.random() < COPIED:
                post = self.copy(self.choose(told), post)
            told.append(post)
            yield time, post.text()


def make_posts(seed: int = SEED) -> list[tuple[str, str, str, str, str]]:
    """The posts as rows of posts.csv, oldest first."""
    writer = Writer(seed)
    posts = []
    for event in EVENTS:
        claims = writer.shuffled(CLAIMS)[:STORIES]
        for number, wordings in enumerate(claims):
            label = RUMOUR if number < RUMOURS else NON_RUMOUR
            posts += [(time, text, label, event.slug) for time, text in writer.story(event, label, wordings)]
    # Ids are numbers dealt out at random: they tell neither class nor time.
    ids = writer.shuffled([f"s-{number:04d}" for number in range(1, len(posts) + 1)])
    rows = [
        (i, text, f"{time.isoformat()}Z", label, slug) for i, (time, text, label, slug) in zip(ids, posts, strict=True)
    ]
    return sorted(rows, key=lambda row: (row[2], row[0]))


def main(folder: Path) -> None:
    """Write posts.csv into `folder`."""
    with open(folder / "posts.csv", "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("id", "text", "created_at", "label", "event"))
        writer.writerows(make_posts())


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
