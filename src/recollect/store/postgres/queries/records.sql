-- Records of one user. `{columns}` are those of a row, in its order; `{visible}`, `{persona}` and `{lane}` are filters
-- from the closed list in `statements.py`.

-- name: records_by_id
select {columns}
from records t
where t.user_id = %(user)s and t.id = any (%(ids)s::text[]) and {visible}
order by t.seq

-- name: records_by_seq
select {columns}
from records t
where t.user_id = %(user)s and t.seq = any (%(seqs)s::bigint[]) and {visible}
order by t.seq

-- name: records_by_key
select {columns}
from records t
where t.user_id = %(user)s and t.noun = %(noun)s and t.key = any (%(keys)s::text[]) and {visible}
order by t.seq

-- name: record_list
-- One noun, newest first, from after a (time, entry).
select {columns}
from records t
where t.user_id = %(user)s and t.noun = %(noun)s and {visible} and {persona} and {lane}
    and (cardinality(%(statuses)s::text[]) = 0 or t.status = any (%(statuses)s::text[]))
    and (%(prefix)s::text is null or starts_with(t.key, %(prefix)s::text))
    and (%(after_at)s::bigint is null or (t.at, t.seq) < (%(after_at)s::bigint, %(after_seq)s::bigint))
order by t.at desc, t.seq desc
limit %(limit)s

-- name: records_by_entity
select {columns}
from records t
where t.user_id = %(user)s and t.noun = %(noun)s and {visible} and {persona}
    and (cardinality(%(statuses)s::text[]) = 0 or t.status = any (%(statuses)s::text[]))
    and t.seq = any (array(
        select e.seq from record_entities e where e.user_id = %(user)s and e.ref = any (%(refs)s::text[])
    ))
order by t.at desc, t.seq desc
limit %(limit)s

-- name: records_by_source
select {columns}
from records t
where t.user_id = %(user)s and {visible}
    and t.seq = any (array(
        select s.seq from record_sources s where s.user_id = %(user)s and s.ref = any (%(turns)s::text[])
    ))
order by t.seq

-- name: insert_record
insert into records (
    user_id, seq, at, retired, length, repeats, words, noun, status, persona, lane, key, id, version, text, origin, sources, entities, due,
    valid_from, valid_to, tokens, family, body, recorded_at, retired_at
) values (
    %(user)s, %(seq)s, %(at)s, %(retired)s, %(length)s, %(repeats)s, %(words)s, %(noun)s, %(status)s, %(persona)s, %(lane)s, %(key)s, %(id)s,
    %(version)s, %(text)s, %(origin)s, %(sources)s, %(entities)s, %(due)s, %(valid_from)s, %(valid_to)s, %(tokens)s,
    %(family)s, %(body)s, %(recorded_at)s, %(retired_at)s
)

-- name: insert_record_entities
insert into record_entities (user_id, ref, seq)
select %(user)s, r.ref, %(seq)s from unnest(%(refs)s::text[]) as r (ref)
on conflict do nothing

-- name: insert_record_sources
insert into record_sources (user_id, ref, seq)
select %(user)s, r.ref, %(seq)s from unnest(%(refs)s::text[]) as r (ref)
on conflict do nothing

-- name: retire_record
-- Ends the live version of a record at an entry, if there is one that was written before it.
update records t set retired = %(seq)s, retired_at = %(at)s
where t.user_id = %(user)s and t.id = %(id)s and t.retired is null and t.seq < %(seq)s

-- name: erase_records
delete from records t
where t.user_id = %(user)s and t.id = any (%(ids)s::text[])

-- name: erase_record_entities
delete from record_entities e
where e.user_id = %(user)s
    and e.seq in (select t.seq from records t where t.user_id = %(user)s and t.id = any (%(ids)s::text[]))

-- name: erase_record_sources
delete from record_sources s
where s.user_id = %(user)s
    and s.seq in (select t.seq from records t where t.user_id = %(user)s and t.id = any (%(ids)s::text[]))
