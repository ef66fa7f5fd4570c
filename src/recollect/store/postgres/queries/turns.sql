-- Turns of one user. `{columns}` are those of a stored turn, in its order; `{visible}`, `{persona}` and `{lane}` are
-- filters from the closed list in `statements.py`.

-- name: window
-- The newest turns of a persona and lane that stand before a place, newest first.
select {columns}
from turns t
where t.user_id = %(user)s and {visible} and {persona} and {lane}
    and (%(before)s::bigint is null or t.place < %(before)s::bigint)
order by t.place desc, t.seq desc
limit %(limit)s

-- name: turns_by_id
select {columns}
from turns t
where t.user_id = %(user)s and t.id = any (%(ids)s::text[]) and {visible}
order by t.place, t.seq

-- name: turns_by_seq
select {columns}
from turns t
where t.user_id = %(user)s and t.seq = any (%(seqs)s::bigint[]) and {visible}
order by t.place, t.seq

-- name: turn_list
-- Turns after a place, in the conversation's order.
select {columns}
from turns t
where t.user_id = %(user)s and t.place > %(after)s and {visible} and {persona} and {lane} and {session} and {since} and {until}
order by {order}, t.seq
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
