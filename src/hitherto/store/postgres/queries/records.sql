-- Records of one user. `{columns}` are those of a row, in its order; `{visible}`, `{persona}` and `{lane}` are filters
-- from the closed list in `statements.py`. `turns.sql` says why they have this form.

-- name: records_by_id
select f.*
from unnest(%(ids)s::text[]) as i (id)
cross join lateral (
    select {columns} from records t where t.user_id = %(user)s and t.id = i.id and {visible} offset 0
) f
order by f.seq

-- name: records_by_seq
select f.*
from unnest(%(seqs)s::bigint[]) as i (seq)
cross join lateral (
    select {columns} from records t where t.user_id = %(user)s and t.seq = i.seq and {visible} offset 0
) f
order by f.seq

-- name: records_by_key
select f.*
from unnest(%(keys)s::text[]) as i (key)
cross join lateral (
    select {columns} from records t where t.user_id = %(user)s and t.noun = %(noun)s and t.key = i.key and {visible} offset 0
) f
order by f.seq

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
order by t.at + 0 desc, t.seq desc
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
select h.user_id, r.ref, %(seq)s from heads h cross join unnest(%(refs)s::text[]) as r (ref)
where h.user_id = %(user)s
on conflict do nothing

-- name: insert_record_sources
insert into record_sources (user_id, ref, seq)
select h.user_id, r.ref, %(seq)s from heads h cross join unnest(%(refs)s::text[]) as r (ref)
where h.user_id = %(user)s
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
