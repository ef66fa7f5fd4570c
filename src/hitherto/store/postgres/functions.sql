-- Full-text search behind the wall: one function for turns and one for records, which differ by {target} alone.
--
-- A row-level policy keeps the planner from using an inverted index, because the operators of full text could leak what
-- they see; a user of 100,000 turns would wait 45 ms instead of 2. So these two functions run as the role
-- `hitherto_search`, which may read every user's words but nothing else of a row, and are the wall themselves: they
-- answer only for the user of this transaction.
--
-- They find; the score is made of their answers by `ranking.py`. Thousands of rows cost more to carry than to find, so an
-- entry and its length travel as one packed integer, of which the length takes 24 bits; an entry and how often it says the
-- word as another, where it says any word more than once.
--
-- The user's partition is named and the user compared so that no index can serve the comparison: where the planner knows
-- too little of a table, it reads all rows of the user by another index and tests each of them (590 ms instead of 3 for
-- 10,000 turns). A sharded table has no partitions, and is told its user the plain way. `offset 0` has each word looked up by
-- itself, for the same reason (0.7 ms instead of 64 for 16 words of 3,000 turns of a shard before statistics). What stands
-- between the two marks is written out once for each of them: a statement that is put together as text would be planned at
-- every call.
create or replace function match_{target}s(
    p_user uuid, p_words text[], p_queries tsquery[]
) returns table (
    n bigint, documents bigint, stems bigint, holding bigint, lengths bytea, frequencies bytea
)
language plpgsql stable security definer
set search_path = hitherto, pg_temp
set enable_seqscan = off
as $$
#variable_conflict use_column
declare
    part text;
    all_documents bigint;
    all_stems bigint;
begin
    select {partition}, h.{target}_documents, h.{target}_stems
    into part, all_documents, all_stems
    from heads h
    where h.user_id = p_user and h.{target}_documents > 0
        and p_user = nullif(current_setting('hitherto.user_id', true), '')::uuid;
    if not found then
        return;
    end if;
    -- each partition
    if part = '{part}' then
        return query
        select a.n, all_documents, all_stems, count(*),
            string_agg(int8send((t.seq << 24) + t.length), ''),
            string_agg(int8send((t.seq << 24) + cardinality(array_positions(t.words, a.word))), '') filter (where t.repeats)
        from unnest(p_words, p_queries) with ordinality as a (word, query, n)
        cross join lateral (
            select t.seq, t.length, t.repeats, t.words
            from {target}s{part} t
            where {mine} and array_to_tsvector(t.words) @@ a.query
            offset 0
        ) t
        group by a.n;
    end if;
    -- end
end
$$;
