-- Full-text search behind the wall.
--
-- A row-level policy keeps the planner from using an inverted index, because the operators of full text could leak what
-- they see; a user of 100,000 turns would wait 45 ms instead of 2. So these two functions run as the role
-- `recollect_search`, which may read every user's words but nothing else of a row, and are the wall themselves: they
-- answer only for the user of this transaction.
--
-- They find and filter; the score is made of their answers by `ranking.py`. What a word weighs depends on all versions
-- that hold it, so the filters come after the count. Thousands of rows cost more to carry than to find, so an entry and its
-- length travel as one packed integer, of which the length takes 24 bits; an entry and how often it says the word as another,
-- where it says any word more than once.
--
-- The user's partition is named and the user compared so that no index can serve the comparison: where the planner knows
-- too little of a table, it reads all rows of the user by another index and tests each of them (590 ms instead of 3 for
-- 10,000 turns). A sharded table has no partitions, and is told its user the plain way. What stands between the two marks is
-- written out once for each of them: a statement that is put together as text would be planned at every call.
create or replace function match_turns(
    p_user uuid, p_words text[], p_queries tsquery[],
    p_any_persona boolean, p_persona text, p_any_lane boolean, p_lane text, p_known bigint
) returns table (
    n bigint, documents bigint, stems bigint, holding bigint, lengths bytea, frequencies bytea
)
language plpgsql stable security definer
set search_path = recollect, pg_temp
set enable_seqscan = off
as $$
#variable_conflict use_column
declare
    part text;
    all_documents bigint;
    all_stems bigint;
begin
    select substr(h.tableoid::regclass::text, length('heads') + 1), h.turn_documents, h.turn_stems
    into part, all_documents, all_stems
    from heads h
    where h.user_id = p_user and h.turn_documents > 0
        and p_user = nullif(current_setting('recollect.user_id', true), '')::uuid;
    if not found then
        return;
    end if;
    -- each partition
    if part = '{part}' then
        return query
        select f.n, all_documents, all_stems, count(*),
            string_agg(int8send((f.seq << 24) + f.length), '') filter (where f.shown),
            string_agg(int8send((f.seq << 24) + f.frequency), '') filter (where f.repeats and f.shown)
        from (
            select a.n, t.seq, t.length, t.repeats, cardinality(array_positions(t.words, a.word)) as frequency,
                t.seq <= p_known and (t.retired is null or t.retired > p_known)
                    and (p_any_persona or t.persona is not distinct from p_persona)
                    and (p_any_lane or t.lane is not distinct from p_lane) as shown
            from unnest(p_words, p_queries) with ordinality as a (word, query, n)
            join turns{part} t on {mine} and array_to_tsvector(t.words) @@ a.query
        ) f
        group by f.n;
    end if;
    -- end
end
$$;

create or replace function match_records(
    p_user uuid, p_words text[], p_queries tsquery[], p_nouns text[],
    p_any_persona boolean, p_persona text, p_any_lane boolean, p_lane text, p_known bigint
) returns table (
    n bigint, documents bigint, stems bigint, holding bigint, lengths bytea, frequencies bytea
)
language plpgsql stable security definer
set search_path = recollect, pg_temp
set enable_seqscan = off
as $$
#variable_conflict use_column
declare
    part text;
    all_documents bigint;
    all_stems bigint;
begin
    select substr(h.tableoid::regclass::text, length('heads') + 1), h.record_documents, h.record_stems
    into part, all_documents, all_stems
    from heads h
    where h.user_id = p_user and h.record_documents > 0
        and p_user = nullif(current_setting('recollect.user_id', true), '')::uuid;
    if not found then
        return;
    end if;
    -- each partition
    if part = '{part}' then
        return query
        select f.n, all_documents, all_stems, count(*),
            string_agg(int8send((f.seq << 24) + f.length), '') filter (where f.shown),
            string_agg(int8send((f.seq << 24) + f.frequency), '') filter (where f.repeats and f.shown)
        from (
            select a.n, t.seq, t.length, t.repeats, cardinality(array_positions(t.words, a.word)) as frequency,
                t.status = 'ACTIVE' and (cardinality(p_nouns) = 0 or t.noun = any (p_nouns))
                    and t.seq <= p_known and (t.retired is null or t.retired > p_known)
                    and (p_any_persona or t.persona is null or t.persona = p_persona)
                    and (p_any_lane or t.lane is not distinct from p_lane) as shown
            from unnest(p_words, p_queries) with ordinality as a (word, query, n)
            join records{part} t on {mine} and array_to_tsvector(t.words) @@ a.query
        ) f
        group by f.n;
    end if;
    -- end
end
$$;
