-- A day of one lane is found by its times: following the order of places to it would read through years.

CREATE INDEX turns_by_time ON turns (persona, lane, at, place) WHERE retired IS NULL;
