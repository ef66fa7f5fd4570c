-- What ranking reads: full-text matches and traces.

-- name: match_turns
-- For each word that is held: its number, how many versions hold it, and these as packed integers.
select m.n, m.documents, m.stems, m.holding, m.lengths, m.frequencies
from match_turns(%(user)s, %(words)s::text[], %(queries)s::text[]::tsquery[]) m
order by m.n

-- name: match_records
-- The same for records.
select m.n, m.documents, m.stems, m.holding, m.lengths, m.frequencies
from match_records(%(user)s, %(words)s::text[], %(queries)s::text[]::tsquery[]) m
order by m.n

-- name: traces
-- The next traces of one embedder.
select t.seq, t.place, t.noun, t.id, t.at, t.role, t.persona, t.lane, t.session, t.speaker, t.vector
from traces t
where t.user_id = %(user)s and t.embedder = %(embedder)s and t.seq > %(after)s
order by t.seq
limit %(limit)s

-- name: untraced
select w.seq
from (
    select t.seq from turns t where t.user_id = %(user)s and t.seq > %(after)s and t.retired is null
    union all
    select r.seq from records r
    where r.user_id = %(user)s and r.seq > %(after)s and r.retired is null and r.length > 0
) w
where not exists (
    select 1 from traces v where v.user_id = %(user)s and v.embedder = %(embedder)s and v.seq = w.seq
)
order by w.seq
limit %(limit)s

-- name: trace_turn
-- The vector of a turn version, if there is one; replaces another of the same embedder.
insert into traces (user_id, embedder, seq, place, noun, id, at, role, persona, lane, session, speaker, vector)
select t.user_id, %(embedder)s, t.seq, t.place, 'turn', t.id, t.at, t.role, t.persona, t.lane, t.session, t.speaker,
    %(vector)s
from turns t
where t.user_id = %(user)s and t.seq = %(seq)s
on conflict (user_id, embedder, seq) do update set vector = excluded.vector

-- name: trace_record
-- The vector of a record version, if there is one; replaces another of the same embedder.
insert into traces (user_id, embedder, seq, place, noun, id, at, persona, lane, vector)
select r.user_id, %(embedder)s, r.seq, r.seq, r.noun, r.id, r.at, r.persona, r.lane, %(vector)s
from records r
where r.user_id = %(user)s and r.seq = %(seq)s
on conflict (user_id, embedder, seq) do update set vector = excluded.vector

-- name: erase_turn_traces
delete from traces v
where v.user_id = %(user)s
    and v.seq in (select t.seq from turns t where t.user_id = %(user)s and t.id = any (%(ids)s::text[]))

-- name: erase_record_traces
delete from traces v
where v.user_id = %(user)s
    and v.seq in (select t.seq from records t where t.user_id = %(user)s and t.id = any (%(ids)s::text[]))
