"""Clocks, parts of a day, dates in figures and short lengths, as people type them in either language."""

import pytest
from support.tables import each

from store.base.errors import InvalidInput
from store.text.dates import parse_typed_moment

NOW = "2026-11-27T15:00:00.000Z"  # a Friday
READ = {
    "a clock of a day": {
        "yesterday 18:00": "2026-11-26T18:00",
        "yesterday at 18:00": "2026-11-26T18:00",
        "yesterday 6pm": "2026-11-26T18:00",
        "yesterday at 6 p.m.": "2026-11-26T18:00",
        "18:00 yesterday": "2026-11-26T18:00",
        "today 09:00": "2026-11-27T09:00",
        "today at 9": "2026-11-27T09:00",
        "today at noon": "2026-11-27T12:00",
        "monday 10:30": "2026-11-23T10:30",
        "last monday at 10": "2026-11-23T10:00",
        "since monday at 10:30": "2026-11-23T10:30",
        "20 nov 10:30": "2026-11-20T10:30",
        "nov 20 at 10:30": "2026-11-20T10:30",
        "November 20, 2026 10:30": "2026-11-20T10:30",
        "20 nov 2026, 10:30": "2026-11-20T10:30",
        "2026-11-20 9:00": "2026-11-20T09:00",
        "2026-11-20 9am": "2026-11-20T09:00",
        "2026/11/20 9:00": "2026-11-20T09:00",
        "20/11/2026 09:15": "2026-11-20T09:15",
        "20-11-2026 9:00": "2026-11-20T09:00",
        "yesterday at 10 in the morning": "2026-11-26T10:00",
        "yesterday evening at 8": "2026-11-26T20:00",
        "ayer 18:00": "2026-11-26T18:00",
        "ayer a las 18:00": "2026-11-26T18:00",
        "ayer a las 18.30": "2026-11-26T18:30",
        "ayer a las 18h": "2026-11-26T18:00",
        "ayer a las 6 de la tarde": "2026-11-26T18:00",
        "hoy a las 9": "2026-11-27T09:00",
        "hoy a las 9 de la mañana": "2026-11-27T09:00",
        "hoy a la 1 de la tarde": "2026-11-27T13:00",
        "el lunes a las 10": "2026-11-23T10:00",
        "el 20 de noviembre a las 10:30": "2026-11-20T10:30",
        "esta mañana a las 9": "2026-11-27T09:00",
        "anoche a las 11": "2026-11-26T23:00",
    },
    "a clock alone, the latest that has begun": {
        "09:00": "2026-11-27T09:00",
        "9am": "2026-11-27T09:00",
        "9:30 am": "2026-11-27T09:30",
        "9.30am": "2026-11-27T09:30",
        "at 9": "2026-11-27T09:00",
        "12am": "2026-11-27T00:00",
        "12pm": "2026-11-27T12:00",
        "noon": "2026-11-27T12:00",
        "18:00": "2026-11-26T18:00",
        "a las 9": "2026-11-27T09:00",
        "mediodía": "2026-11-27T12:00",
        "desde las 9": "2026-11-27T09:00",
    },
    "a part of a day": {
        "this morning": "2026-11-27T00:00",
        "this afternoon": "2026-11-27T12:00",
        "tonight": "2026-11-27T18:00",
        "last night": "2026-11-26T18:00",
        "yesterday morning": "2026-11-26T00:00",
        "yesterday evening": "2026-11-26T18:00",
        "monday afternoon": "2026-11-23T12:00",
        "esta mañana": "2026-11-27T00:00",
        "esta tarde": "2026-11-27T12:00",
        "esta noche": "2026-11-27T18:00",
        "anoche": "2026-11-26T18:00",
        "ayer por la mañana": "2026-11-26T00:00",
        "ayer por la tarde": "2026-11-26T12:00",
        "anteayer por la tarde": "2026-11-25T12:00",
        "el lunes por la mañana": "2026-11-23T00:00",
        "la mañana del 20 de noviembre": "2026-11-20T00:00",
        "mañana": "2026-11-28T00:00",
        "mañana por la mañana": "2026-11-28T00:00",
        "tomorrow": "2026-11-28T00:00",
    },
    "this very moment": {
        "now": "2026-11-27T15:00",
        "right now": "2026-11-27T15:00",
        "ahora": "2026-11-27T15:00",
        "ahora mismo": "2026-11-27T15:00",
    },
    "a length of time": {
        "3 d": "2026-11-24T15:00",
        "2 h": "2026-11-27T13:00",
        "2h ago": "2026-11-27T13:00",
        "hace 2h": "2026-11-27T13:00",
        "3days": "2026-11-24T15:00",
        "90min": "2026-11-27T13:30",
        "45 min": "2026-11-27T14:15",
        "45 min ago": "2026-11-27T14:15",
        "hace 45 minutos": "2026-11-27T14:15",
        "half an hour ago": "2026-11-27T14:30",
        "half an hour": "2026-11-27T14:30",
        "an hour and a half ago": "2026-11-27T13:30",
        "2 hours and a half ago": "2026-11-27T12:30",
        "a quarter of an hour ago": "2026-11-27T14:45",
        "half a year ago": "2026-05-27T15:00",
        "hace hora y media": "2026-11-27T13:30",
        "hace día y medio": "2026-11-26T03:00",
        "a couple of days ago": "2026-11-25T00:00",
        "hace media hora": "2026-11-27T14:30",
        "media hora": "2026-11-27T14:30",
        "hace una hora y media": "2026-11-27T13:30",
        "hace dos horas y media": "2026-11-27T12:30",
        "hace un cuarto de hora": "2026-11-27T14:45",
        "hace medio día": "2026-11-27T03:00",
        "hace medio año": "2026-05-27T15:00",
    },
    "a clock in words": {
        "yesterday at three": "2026-11-26T03:00",
        "yesterday at four in the afternoon": "2026-11-26T16:00",
        "monday at eleven": "2026-11-23T11:00",
        "ayer a las nueve": "2026-11-26T09:00",
        "ayer a las tres de la tarde": "2026-11-26T15:00",
        "el lunes a la una": "2026-11-23T01:00",
    },
    "a day by another": {
        "the day before yesterday": "2026-11-25T00:00",
        "day before yesterday 18:00": "2026-11-25T18:00",
        "two weeks before yesterday": "2026-11-12T00:00",
        "antes de ayer": "2026-11-25T00:00",
        "last weekend": "2026-11-21T00:00",
        "el fin de semana pasado": "2026-11-21T00:00",
        "early november": "2026-11-01T00:00",
        "mid november": "2026-11-11T00:00",
        "the end of october": "2026-10-21T00:00",
        "finales de octubre": "2026-10-21T00:00",
        "the first quarter": "2026-01-01T00:00",
        "the last few weeks": "2026-10-23T00:00",
    },
    "a date in figures": {
        "29/11/2025": "2025-11-29T00:00",
        "29-11-2025": "2025-11-29T00:00",
        "29.11.2025": "2025-11-29T00:00",
        "3.4.2026": "2026-04-03T00:00",
        "11/29/2025": "2025-11-29T00:00",
        "5/5/2026": "2026-05-05T00:00",
        "2025/11/29": "2025-11-29T00:00",
        "2025/1/9": "2025-01-09T00:00",
        "since 29/11/2025": "2025-11-29T00:00",
        "desde el 29/11/2025": "2025-11-29T00:00",
        "2026-11": "2026-11-01T00:00",
        "2026/11": "2026-11-01T00:00",
        "11/2026": "2026-11-01T00:00",
        "20 de nov. de 2026": "2026-11-20T00:00",
        "November 20, 2026": "2026-11-20T00:00",
        "noviembre de 2026": "2026-11-01T00:00",
        "friday 20 nov": "2026-11-20T00:00",
    },
}
REFUSED = [
    *("31/02/2026", "2026-13", "99/99/2026", "29/11/25x", "13/13/2026", "since 9", "el 20"),
    *("25:00", "yesterday 25:00", "13pm", "0am", "10:75", "yesterday 18:00 19:00", "18:00 18:30", "ayer a las"),
    *("yesterday blah", "yesterday blah 18:00", "yesterday today", "ayer hoy a las 9", "monday 20 nov"),
    *("last week 10:00", "2 days ago at 10:00", "november at 9", "2026-11 9:00", "hace 2h a las 9"),
    *("yesterday three", "yesterday 3", "week yesterday", "ayer tres", "day yesterday", "ayer a las tres y pico"),
    *("12 de la noche", "12 de la mañana", "ayer a las 2 de la noche", "15 in the morning", "5 m ago", "1h30m"),
    *("in 3 days", "dentro de 3 días", "en dos semanas", "morning", "noche"),
]


@each("text, moment", [pair for table in READ.values() for pair in table.items()])
def test_a_time_is_read_as_people_type_it(text: str, moment: str) -> None:
    assert parse_typed_moment(text, NOW)[:16] == moment
    assert parse_typed_moment(text.upper(), NOW)[:16] == moment


TWO_WAYS = dict.fromkeys(("03/04/2026", "3-4-2026", "since 3/4/2026 18:00"), "two ways: 2026-04-03 and 2026-03-04")


@each("text, says", [*((text, "2026-11-01") for text in REFUSED), *TWO_WAYS.items()])
def test_what_is_not_understood_whole_or_in_two_ways_is_refused_and_not_guessed(text: str, says: str) -> None:
    with pytest.raises(InvalidInput, match=says):
        parse_typed_moment(text, NOW)


def test_a_release_that_is_called_like_a_date_is_the_release() -> None:
    known = {"2026.11.20": "2026-11-21T10:00:00.000Z"}
    assert parse_typed_moment("2026.11.20", NOW, lambda name: known.get(name, "")) == known["2026.11.20"]
    assert parse_typed_moment("2026.11.19", NOW, lambda name: known.get(name, ""))[:16] == "2026-11-19T00:00"
