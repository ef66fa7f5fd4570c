-- A day of one lane is found by its times: following the order of places to it would read through years.

create index turns_by_time on turns (user_id, persona, lane, at, place);
