-- Full-text search behind the wall.
--
-- A row-level policy keeps the planner from using an inverted index, because the operators of full text could leak what
-- they see; a user of 100,000 turns would wait 45 ms instead of 2. So these two functions run as the role
-- `recollect_search`, which may read every user's words but nothing else of a row, and are the wall themselves: they
-- answer only for the user of this transaction.
--
-- They find and filter; the score is made of their answers by `ranking.py`. What a word weighs depends on all versions
-- that hold it, so the filters come after the count. Packed integers, because thousands of rows cost more to carry than
-- to find.
create or replace function match_turns(
    p_user uuid, p_words text[], p_queries tsquery[],
    p_any_persona boolean, p_persona text, p_any_lane boolean, p_lane text, p_known bigint
) returns table (
    n bigint, documents bigint, stems bigint, holding bigint, seqs bytea, lengths bytea, frequencies bytea
)
language plpgsql stable security definer
set search_path = recollect, pg_temp
set plan_cache_mode = force_custom_plan
as $$
#variable_conflict use_column
declare
    all_documents bigint;
    all_stems bigint;
begin
    select h.turn_documents, h.turn_stems into all_documents, all_stems
    from heads h
    where h.user_id = p_user and h.turn_documents > 0
        and p_user = nullif(current_setting('recollect.user_id', true), '')::uuid;
    if not found then
        return;
    end if;
    return query
    select f.n, all_documents, all_stems, count(*),
        string_agg(int8send(f.seq), '') filter (where f.shown),
        string_agg(int4send(f.length), '') filter (where f.shown),
        string_agg(int4send(f.frequency), '') filter (where f.shown)
    from (
        select a.n, t.seq, t.length,
            case when t.repeats then cardinality(array_positions(t.words, a.word)) else 1 end as frequency,
            t.seq <= p_known and (t.retired is null or t.retired > p_known)
                and (p_any_persona or t.persona is not distinct from p_persona)
                and (p_any_lane or t.lane is not distinct from p_lane) as shown
        from unnest(p_words, p_queries) with ordinality as a (word, query, n)
        join turns t on t.user_id = p_user and array_to_tsvector(t.words) @@ a.query
    ) f
    group by f.n;
end
$$;

create or replace function match_records(
    p_user uuid, p_words text[], p_queries tsquery[], p_nouns text[],
    p_any_persona boolean, p_persona text, p_any_lane boolean, p_lane text, p_known bigint
) returns table (
    n bigint, documents bigint, stems bigint, holding bigint, seqs bytea, lengths bytea, frequencies bytea
)
language plpgsql stable security definer
set search_path = recollect, pg_temp
set plan_cache_mode = force_custom_plan
as $$
#variable_conflict use_column
declare
    all_documents bigint;
    all_stems bigint;
begin
    select h.record_documents, h.record_stems into all_documents, all_stems
    from heads h
    where h.user_id = p_user and h.record_documents > 0
        and p_user = nullif(current_setting('recollect.user_id', true), '')::uuid;
    if not found then
        return;
    end if;
    return query
    select f.n, all_documents, all_stems, count(*),
        string_agg(int8send(f.seq), '') filter (where f.shown),
        string_agg(int4send(f.length), '') filter (where f.shown),
        string_agg(int4send(f.frequency), '') filter (where f.shown)
    from (
        select a.n, t.seq, t.length,
            case when t.repeats then cardinality(array_positions(t.words, a.word)) else 1 end as frequency,
            t.status = 'ACTIVE' and (cardinality(p_nouns) = 0 or t.noun = any (p_nouns))
                and t.seq <= p_known and (t.retired is null or t.retired > p_known)
                and (p_any_persona or t.persona is null or t.persona = p_persona)
                and (p_any_lane or t.lane is not distinct from p_lane) as shown
        from unnest(p_words, p_queries) with ordinality as a (word, query, n)
        join records t on t.user_id = p_user and array_to_tsvector(t.words) @@ a.query
    ) f
    group by f.n;
end
$$;
