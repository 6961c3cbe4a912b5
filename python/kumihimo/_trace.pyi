"""The files of events that the recorder writes."""

import enum


class Kind(enum.Enum):
    enter = 0

    leave = 1

    send = 2

    receive = 3

    collective = 4

    start_send = 5

    start_receive = 6

    start_collective = 7

    end_send = 8

    end_receive = 9

    end_collective = 10

    begin_region = 11

    end_region = 12

    begin_program = 13

    end_program = 14

    compute = 15

class Elapsed:
    """Nanoseconds since the last leave."""

    @property
    def recorder_ns(self) -> int: ...

    @property
    def processor_ns(self) -> int: ...

class Enter:
    @property
    def since_leave(self) -> Elapsed: ...

    @property
    def site(self) -> int: ...

class Message:
    @property
    def bytes(self) -> int: ...

    @property
    def peer(self) -> int: ...

    @property
    def tag(self) -> int: ...

    @property
    def communicator(self) -> int: ...

class Collective:
    @property
    def bytes(self) -> int: ...

    @property
    def root(self) -> int: ...

    @property
    def communicator(self) -> int: ...

    @property
    def parts(self) -> int: ...

    @property
    def row(self) -> int: ...

class Region:
    @property
    def number(self) -> int: ...

class Compute:
    @property
    def ns(self) -> int: ...

    @property
    def region(self) -> int: ...

class Event:
    @property
    def at_ns(self) -> int: ...

    @property
    def kind(self) -> Kind: ...

    @property
    def call(self) -> int: ...

    @property
    def thread(self) -> int: ...

    @property
    def request(self) -> int: ...

    @property
    def what(self) -> object:
        """What its kind has: an Enter, Message ...; None."""

class File:
    """The events of one rank."""

    def __init__(self, path: str) -> None: ...

    @property
    def rank(self) -> int: ...

    @property
    def ranks(self) -> int: ...

    @property
    def left_out(self) -> int: ...

    def __len__(self) -> int: ...

    def events(self, first: int, count: int) -> list[Event]:
        """So many from the first, or those that there are."""

    def parts(self, number: int) -> list[int]:
        """The list of bytes to each rank that Collective.parts names."""

NO_SITE: int = 4294967295
