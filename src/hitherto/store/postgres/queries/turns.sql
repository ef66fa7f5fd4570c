-- Turns of one user. `{columns}` are those of a stored turn, in its order; `{visible}`, `{persona}` and `{lane}` are
-- filters from the closed list in `statements.py`.
--
-- A statement's plan is made once and kept, perhaps while its table is empty, or for users who have ten turns where one has
-- a hundred thousand. So its form leaves the planner one index. `offset 0` keeps what is looked up one by one from being
-- turned into a filter over all rows of a user, and an order written as a sum from being a reason to walk through them.

-- name: window
-- The newest turns of a persona and lane that stand before a place, newest first. Where both are named, the order is that
-- of `turns_by_lane` (being null is no constant to the planner, so all of it is written), else that of `turns_by_place`.
select {columns}
from turns t
where t.user_id = %(user)s and {visible} and ({persona}){alone} and ({lane}){alone}
    and (%(before)s::bigint is null or t.place < %(before)s::bigint)
order by {newest}
limit %(limit)s

-- name: turns_by_id
select f.*
from unnest(%(ids)s::text[]) as i (id)
cross join lateral (
    select {columns} from turns t where t.user_id = %(user)s and t.id = i.id and {visible} offset 0
) f
order by f.place, f.seq

-- name: turns_by_seq
select f.*
from unnest(%(seqs)s::bigint[]) as i (seq)
cross join lateral (
    select {columns} from turns t where t.user_id = %(user)s and t.seq = i.seq and {visible} offset 0
) f
order by f.place, f.seq

-- name: turn_list
-- Turns after a place, in the conversation's order.
select {columns}
from turns t
where t.user_id = %(user)s and {order} > %(after)s and {visible} and {persona} and {lane} and {session} and {since} and {until}
order by {order}
limit %(limit)s

-- name: insert_turn
insert into turns (
    user_id, seq, place, at, retired, length, repeats, words, persona, lane, id, version, role, text, recorded_at, conversation, speaker,
    reply_to, origin, parts, snapshot, session, position, number, tokens, family
) values (
    %(user)s, %(seq)s, %(place)s, %(at)s, %(retired)s, %(length)s, %(repeats)s, %(words)s, %(persona)s, %(lane)s, %(id)s, %(version)s, %(role)s,
    %(text)s, %(recorded_at)s, %(conversation)s, %(speaker)s, %(reply_to)s, %(origin)s, %(parts)s, %(snapshot)s,
    %(session)s, %(position)s, %(number)s, %(tokens)s, %(family)s
)

-- name: retire_turn
-- Ends the live version of a turn at an entry, if there is one that was written before it.
update turns t set retired = %(seq)s
where t.user_id = %(user)s and t.id = %(id)s and t.retired is null and t.seq < %(seq)s

-- name: erase_turns
delete from turns t
where t.user_id = %(user)s and t.id = any (%(ids)s::text[])
