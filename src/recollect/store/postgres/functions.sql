-- Full-text search behind the wall.
--
-- A row-level policy keeps the planner from using an inverted index, because the operators of full text could leak what
-- they see; a user of 100,000 turns would wait 45 ms instead of 2. So these two functions run as the role
-- `recollect_search`, which may read every user's words but nothing else of a row, and are the wall themselves: they
-- answer only for the user of this transaction.
--
-- The score is that of `recollect.store.bm25`: statistics over all versions of this user, filters after them.
create or replace function match_turns(
    p_user uuid, p_words text[], p_queries tsquery[],
    p_any_persona boolean, p_persona text, p_any_lane boolean, p_lane text, p_known bigint, p_limit integer
) returns table (entry bigint, gain double precision)
language plpgsql stable security definer
set search_path = recollect, pg_temp
set plan_cache_mode = force_custom_plan
as $$
declare
    documents double precision;
    average double precision;
begin
    select h.turn_documents, h.turn_stems::double precision / h.turn_documents into documents, average
    from heads h
    where h.user_id = p_user and h.turn_documents > 0
        and p_user = nullif(current_setting('recollect.user_id', true), '')::uuid;
    if not found then
        return;
    end if;
    return query
    with held as materialized (
        select a.n, t.seq, cardinality(array_positions(t.words, a.word))::double precision as frequency,
            1.2::double precision * (0.25 + 0.75::double precision * cardinality(t.words) / average) as norm,
            t.seq <= p_known and (t.retired is null or t.retired > p_known)
                and (p_any_persona or t.persona is not distinct from p_persona)
                and (p_any_lane or t.lane is not distinct from p_lane) as shown
        from unnest(p_words, p_queries) with ordinality as a (word, query, n)
        join turns t on t.user_id = p_user and array_to_tsvector(t.words) @@ a.query
    ),
    weights as (
        select h.n, greatest(ln((documents - count(*) + 0.5) / (count(*) + 0.5)), 1e-6) as weight
        from held h group by h.n
    ),
    scored as (
        select h.seq, sum(w.weight * (h.frequency * 2.2 / (h.frequency + h.norm))) as total
        from held h join weights w on w.n = h.n
        where h.shown
        group by h.seq
    )
    select s.seq, s.total from scored s order by round(s.total * 1e6) desc, s.seq limit p_limit;
end
$$;

create or replace function match_records(
    p_user uuid, p_words text[], p_queries tsquery[], p_nouns text[],
    p_any_persona boolean, p_persona text, p_any_lane boolean, p_lane text, p_known bigint, p_limit integer
) returns table (entry bigint, gain double precision)
language plpgsql stable security definer
set search_path = recollect, pg_temp
set plan_cache_mode = force_custom_plan
as $$
declare
    documents double precision;
    average double precision;
begin
    select h.record_documents, h.record_stems::double precision / h.record_documents into documents, average
    from heads h
    where h.user_id = p_user and h.record_documents > 0
        and p_user = nullif(current_setting('recollect.user_id', true), '')::uuid;
    if not found then
        return;
    end if;
    return query
    with held as materialized (
        select a.n, t.seq, cardinality(array_positions(t.words, a.word))::double precision as frequency,
            1.2::double precision * (0.25 + 0.75::double precision * cardinality(t.words) / average) as norm,
            t.status = 'ACTIVE' and t.seq <= p_known and (t.retired is null or t.retired > p_known)
                and (cardinality(p_nouns) = 0 or t.noun = any (p_nouns))
                and (p_any_persona or t.persona is null or t.persona = p_persona)
                and (p_any_lane or t.lane is not distinct from p_lane) as shown
        from unnest(p_words, p_queries) with ordinality as a (word, query, n)
        join records t on t.user_id = p_user and array_to_tsvector(t.words) @@ a.query
    ),
    weights as (
        select h.n, greatest(ln((documents - count(*) + 0.5) / (count(*) + 0.5)), 1e-6) as weight
        from held h group by h.n
    ),
    scored as (
        select h.seq, sum(w.weight * (h.frequency * 2.2 / (h.frequency + h.norm))) as total
        from held h join weights w on w.n = h.n
        where h.shown
        group by h.seq
    )
    select s.seq, s.total from scored s order by round(s.total * 1e6) desc, s.seq limit p_limit;
end
$$;
