-- The head of a user's log, its entries, and what is kept beside it.

-- name: head
select h.seq from heads h where h.user_id = %(user)s

-- name: log_turns
select {columns}, t.words
from turns t
where t.user_id = %(user)s and t.seq > %(after)s
order by t.seq
limit %(limit)s

-- name: log_records
select {columns}, t.words
from records t
where t.user_id = %(user)s and t.seq > %(after)s
order by t.seq
limit %(limit)s

-- name: log_endings
select e.seq, e.op, e.id, e.at
from endings e
where e.user_id = %(user)s and e.seq > %(after)s
order by e.seq
limit %(limit)s

-- name: erased
-- Which of these hashes of ids stand in the log as erased.
select distinct e.id
from endings e
where e.user_id = %(user)s and e.op = 'erase' and e.id = any (%(names)s::text[])

-- name: register
insert into users (user_id, tenant, name) values (%(user)s, %(tenant)s, %(name)s)
on conflict do nothing

-- name: create_head
insert into heads (user_id, seq, mark, turn_documents, turn_stems, record_documents, record_stems)
values (%(user)s, 0, %(mark)s, 0, 0, 0, 0)
on conflict do nothing

-- name: lock_head
select h.seq, h.mark
from heads h
where h.user_id = %(user)s
for update

-- name: live_ids
-- Which of these ids have a live version.
select t.id from turns t where t.user_id = %(user)s and t.id = any (%(ids)s::text[]) and t.retired is null
union
select r.id from records r where r.user_id = %(user)s and r.id = any (%(ids)s::text[]) and r.retired is null

-- name: turn_ids
-- Which of these ids (all, if none are given) name turns, in any version.
select distinct t.id
from turns t
where t.user_id = %(user)s and (%(ids)s::text[] is null or t.id = any (%(ids)s::text[]))

-- name: record_ids
-- Which of these ids (all, if none are given) name records, in any version.
select distinct r.id
from records r
where r.user_id = %(user)s and (%(ids)s::text[] is null or r.id = any (%(ids)s::text[]))

-- name: move_head
update heads h
set seq = %(seq)s, mark = %(mark)s,
    turn_documents = h.turn_documents + %(turn_documents)s, turn_stems = h.turn_stems + %(turn_stems)s,
    record_documents = h.record_documents + %(record_documents)s, record_stems = h.record_stems + %(record_stems)s
where h.user_id = %(user)s

-- name: move_known_head
-- Moves a head that is as this process left it; it takes the user's lock, and `is_moved` tells whether it was.
update heads h
set seq = %(seq)s, mark = %(mark)s,
    turn_documents = h.turn_documents + %(turn_documents)s, turn_stems = h.turn_stems + %(turn_stems)s,
    record_documents = h.record_documents + %(record_documents)s, record_stems = h.record_stems + %(record_stems)s
where h.user_id = %(user)s and h.mark = %(expected)s

-- name: is_moved
-- Divides by zero where it was not: nothing that stands behind it in the batch is run then.
select 1 / count(*) from heads h where h.user_id = %(user)s and h.mark = %(mark)s

-- name: are_new
-- Divides by zero where any of these ids names a turn.
select 1 / (1 - least(count(*), 1)) from turns t where t.user_id = %(user)s and t.id = any (%(ids)s::text[])

-- name: are_not_erased
-- Divides by zero where any of these hashes of ids stands in the log as erased.
select 1 / (1 - least(count(*), 1))
from endings e
where e.user_id = %(user)s and e.op = 'erase' and e.id = any (%(names)s::text[])

-- name: shrink_turns
-- Takes turns that are about to be erased out of the full-text statistics.
update heads h
set turn_documents = h.turn_documents - g.documents, turn_stems = h.turn_stems - g.stems
from (
    select count(*) filter (where t.length > 0) as documents, coalesce(sum(t.length), 0) as stems
    from turns t
    where t.user_id = %(user)s and t.id = any (%(ids)s::text[])
) g
where h.user_id = %(user)s

-- name: shrink_records
-- Takes records that are about to be erased out of the full-text statistics.
update heads h
set record_documents = h.record_documents - g.documents, record_stems = h.record_stems - g.stems
from (
    select count(*) filter (where t.length > 0) as documents, coalesce(sum(t.length), 0) as stems
    from records t
    where t.user_id = %(user)s and t.id = any (%(ids)s::text[])
) g
where h.user_id = %(user)s

-- name: recount_turn
-- What other stems of one turn version change in the full-text statistics.
update heads h
set turn_documents = h.turn_documents + (%(length)s::int > 0)::int - (t.length > 0)::int,
    turn_stems = h.turn_stems + %(length)s::int - t.length
from turns t
where h.user_id = %(user)s and t.user_id = %(user)s and t.seq = %(seq)s and t.words <> %(words)s::text[]

-- name: restem_turn
-- Other stems for one turn version.
update turns t
set words = %(words)s::text[], length = %(length)s::int, repeats = %(repeats)s::boolean
where t.user_id = %(user)s and t.seq = %(seq)s and t.words <> %(words)s::text[]

-- name: recount_record
-- What other stems of one record version change in the full-text statistics.
update heads h
set record_documents = h.record_documents + (%(length)s::int > 0)::int - (t.length > 0)::int,
    record_stems = h.record_stems + %(length)s::int - t.length
from records t
where h.user_id = %(user)s and t.user_id = %(user)s and t.seq = %(seq)s and t.words <> %(words)s::text[]

-- name: restem_record
-- Other stems for one record version.
update records t
set words = %(words)s::text[], length = %(length)s::int, repeats = %(repeats)s::boolean
where t.user_id = %(user)s and t.seq = %(seq)s and t.words <> %(words)s::text[]

-- name: lease
select h.lease_holder, h.lease_fence, h.lease_expires
from heads h
where h.user_id = %(user)s and h.lease_fence is not null

-- name: set_lease
update heads h set lease_holder = %(holder)s, lease_fence = %(fence)s, lease_expires = %(expires)s
where h.user_id = %(user)s

-- name: insert_ending
insert into endings (user_id, seq, op, id, at) values (%(user)s, %(seq)s, %(op)s, %(id)s, %(at)s)

-- name: erase_endings
-- The retirements of erased turns and records.
delete from endings e where e.user_id = %(user)s and e.id = any (%(ids)s::text[]) and e.op = 'retire'

-- name: entries_there
-- Which of these entries the log holds already.
select t.seq from turns t where t.user_id = %(user)s and t.seq = any (%(seqs)s::bigint[])
union all
select r.seq from records r where r.user_id = %(user)s and r.seq = any (%(seqs)s::bigint[])
union all
select e.seq from endings e where e.user_id = %(user)s and e.seq = any (%(seqs)s::bigint[])

-- name: cursors
select c.step, c.position, c.due, c.attempts, c.error, c.parked, c.body
from cursors c
where c.user_id = %(user)s
order by c.step

-- name: put_cursor
insert into cursors (user_id, step, position, due, attempts, error, parked, body)
values (%(user)s, %(step)s, %(position)s, %(due)s, %(attempts)s, %(error)s, %(parked)s, %(body)s)
on conflict (user_id, step) do update
set position = excluded.position, due = excluded.due, attempts = excluded.attempts, error = excluded.error,
    parked = excluded.parked, body = excluded.body

-- name: snapshots_by_id
select s.id, s.at, s.known, s.body, s.whole
from snapshots s
where s.user_id = %(user)s and s.id = any (%(ids)s::text[])
order by s.at desc, s.id

-- name: snapshot_list
select s.id, s.at, s.known, s.body, s.whole
from snapshots s
where s.user_id = %(user)s and (%(before)s::bigint is null or s.at < %(before)s::bigint)
order by s.at desc, s.id
limit %(limit)s

-- name: put_snapshot
insert into snapshots (user_id, id, at, known, body, whole)
values (%(user)s, %(id)s, %(at)s, %(known)s, %(body)s, %(whole)s)
on conflict (user_id, id) do update
set at = excluded.at, known = excluded.known, body = excluded.body, whole = excluded.whole

-- name: erase_snapshots
delete from snapshots s where s.user_id = %(user)s and s.id = any (%(ids)s::text[])

-- name: blobs
select b.hash, b.text from blobs b where b.user_id = %(user)s and b.hash = any (%(hashes)s::text[])

-- name: put_blobs
insert into blobs (user_id, hash, text)
select h.user_id, b.hash, b.text
from heads h cross join unnest(%(hashes)s::text[], %(texts)s::text[]) as b (hash, text)
where h.user_id = %(user)s
on conflict (user_id, hash) do nothing

-- name: erase_blobs
delete from blobs b where b.user_id = %(user)s and b.hash = any (%(hashes)s::text[])

-- name: notes
select n.name, n.body, n.expires
from notes n
where n.user_id = %(user)s
    and (n.name = any (%(names)s::text[]) or (%(prefix)s::text is not null and starts_with(n.name, %(prefix)s::text)))
order by n.name

-- name: put_note
insert into notes (user_id, name, body, expires) values (%(user)s, %(name)s, %(body)s, %(expires)s)
on conflict (user_id, name) do update set body = excluded.body, expires = excluded.expires

-- name: erase_notes
delete from notes n where n.user_id = %(user)s and n.name = any (%(names)s::text[])

-- name: count_turns
select count(*) from turns t where t.user_id = %(user)s and t.retired is null

-- name: count_records
select t.noun, count(*)
from records t
where t.user_id = %(user)s and t.retired is null
group by t.noun
order by t.noun

-- name: count_snapshots
select count(*) from snapshots s where s.user_id = %(user)s

-- name: size
-- Bytes of this user's rows, as stored; indexes and free space are not in it.
select
    (select coalesce(sum(pg_column_size(t.*)), 0) from turns t where t.user_id = %(user)s)
    + (select coalesce(sum(pg_column_size(r.*)), 0) from records r where r.user_id = %(user)s)
    + (select coalesce(sum(pg_column_size(v.*)), 0) from traces v where v.user_id = %(user)s)
    + (select coalesce(sum(pg_column_size(s.*)), 0) from snapshots s where s.user_id = %(user)s)
    + (select coalesce(sum(pg_column_size(b.*)), 0) from blobs b where b.user_id = %(user)s)
    + (select coalesce(sum(pg_column_size(n.*)), 0) from notes n where n.user_id = %(user)s)
