-- What ranking reads: full-text matches and traces.

-- name: match_turns
select m.entry, m.gain
from match_turns(
    %(user)s, %(words)s::text[], %(queries)s::text[]::tsquery[],
    %(any_persona)s, %(persona)s, %(any_lane)s, %(lane)s, %(known)s, %(limit)s
) m

-- name: match_records
select m.entry, m.gain
from match_records(
    %(user)s, %(words)s::text[], %(queries)s::text[]::tsquery[], %(nouns)s::text[],
    %(any_persona)s, %(persona)s, %(any_lane)s, %(lane)s, %(known)s, %(limit)s
) m

-- name: traces
-- The next vectors of one embedder with what ranking needs of their turn or record.
select v.seq, coalesce(t.place, v.seq), coalesce(r.noun, 'turn'), coalesce(t.id, r.id), coalesce(t.at, r.at), t.role,
    coalesce(t.persona, r.persona), coalesce(t.lane, r.lane), t.session, t.speaker, v.data
from vectors v
left join turns t on t.user_id = %(user)s and t.seq = v.seq
left join records r on r.user_id = %(user)s and r.seq = v.seq
where v.user_id = %(user)s and v.embedder = %(embedder)s and v.seq > %(after)s
order by v.seq
limit %(limit)s

-- name: untraced
select w.seq
from (
    select t.seq from turns t where t.user_id = %(user)s and t.seq > %(after)s and t.retired is null
    union all
    select r.seq from records r
    where r.user_id = %(user)s and r.seq > %(after)s and r.retired is null and cardinality(r.words) > 0
) w
where not exists (
    select 1 from vectors v where v.user_id = %(user)s and v.embedder = %(embedder)s and v.seq = w.seq
)
order by w.seq
limit %(limit)s

-- name: insert_vector
-- The vector of an entry that the same transaction writes.
insert into vectors (user_id, embedder, seq, data) values (%(user)s, %(embedder)s, %(seq)s, %(data)s)

-- name: put_vector
-- A vector for an entry of this user that is there; replaces one of the same embedder.
insert into vectors (user_id, embedder, seq, data)
select %(user)s, %(embedder)s, %(seq)s, %(data)s
where exists (select 1 from turns t where t.user_id = %(user)s and t.seq = %(seq)s)
    or exists (select 1 from records r where r.user_id = %(user)s and r.seq = %(seq)s)
on conflict (user_id, embedder, seq) do update set data = excluded.data, near = null

-- name: erase_turn_vectors
delete from vectors v
where v.user_id = %(user)s
    and v.seq in (select t.seq from turns t where t.user_id = %(user)s and t.id = any (%(ids)s::text[]))

-- name: erase_record_vectors
delete from vectors v
where v.user_id = %(user)s
    and v.seq in (select t.seq from records t where t.user_id = %(user)s and t.id = any (%(ids)s::text[]))
