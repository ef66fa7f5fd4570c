-- One user's memory.
--
-- Rules that keep this schema valid on a sharded cluster: `user_id` leads every key, index and join of the users' tables;
-- ids, times and random values come from the client; no trigger, no sequence, no foreign key. Instants are microseconds
-- since 1970. What is ordered or searched by prefix is collated "C", so that it sorts as in the embedded store.
-- Partitions, policies and grants are the same for every user table and come from `hitherto.store.postgres.layout`.

-- The lock row of a user: whoever holds it writes. Also the newest log entry, the full-text statistics, and the lease.
create table heads (
    user_id uuid not null,
    seq bigint not null,
    mark uuid not null,
    turn_documents bigint not null,
    turn_stems bigint not null,
    record_documents bigint not null,
    record_stems bigint not null,
    lease_holder text,
    lease_fence bigint,
    lease_expires bigint,
    primary key (user_id)
) partition by hash (user_id);

-- Versions of turns. `words` are the stems in their order, each led by the user's mark, so that one inverted index over
-- many users is in effect one index for each; `length` is their number, and `repeats` says whether any comes twice. Search
-- reads the first columns of many rows, so they stand before the text.
create table turns (
    user_id uuid not null,
    seq bigint not null,
    place bigint not null,
    at bigint not null,
    retired bigint,
    length integer not null,
    repeats boolean not null,
    words text[] collate "C" not null,
    persona text collate "C",
    lane text collate "C",
    id text collate "C" not null,
    version integer not null,
    role text not null,
    text text not null,
    recorded_at bigint not null,
    conversation text,
    speaker text,
    reply_to text,
    origin text not null,
    parts text,
    snapshot text,
    session text collate "C" not null,
    position integer not null,
    number integer not null,
    tokens integer not null,
    family text not null,
    primary key (user_id, seq)
) partition by hash (user_id);
create unique index turns_by_id on turns (user_id, id, version);
create index turns_by_place on turns (user_id, place);
create index turns_by_lane on turns (user_id, persona, lane, place);
create index turns_by_session on turns (user_id, session, place);
create index turns_by_word on turns using gin (array_to_tsvector(words)) with (fastupdate = off);

-- Versions of everything else that is remembered.
create table records (
    user_id uuid not null,
    seq bigint not null,
    at bigint not null,
    retired bigint,
    length integer not null,
    repeats boolean not null,
    words text[] collate "C" not null,
    noun text collate "C" not null,
    status text not null,
    persona text collate "C",
    lane text collate "C",
    key text collate "C",
    id text collate "C" not null,
    version integer not null,
    text text not null,
    origin text not null,
    sources text[] not null,
    entities text[] not null,
    due bigint,
    valid_from bigint,
    valid_to bigint,
    tokens integer not null,
    family text not null,
    body text not null,
    recorded_at bigint not null,
    retired_at bigint,
    primary key (user_id, seq)
) partition by hash (user_id);
create unique index records_by_id on records (user_id, id, version);
create index records_by_key on records (user_id, noun, key) where key is not null;
create index records_by_time on records (user_id, noun, at, seq);
create index records_by_word on records using gin (array_to_tsvector(words)) with (fastupdate = off);

-- Which records name an entity, and which rest on a turn: `ref` is an entity's reference or a turn's id.
create table record_entities (
    user_id uuid not null,
    ref text collate "C" not null,
    seq bigint not null,
    primary key (user_id, ref, seq)
) partition by hash (user_id);
create index record_entities_by_seq on record_entities (user_id, seq);

create table record_sources (
    user_id uuid not null,
    ref text collate "C" not null,
    seq bigint not null,
    primary key (user_id, ref, seq)
) partition by hash (user_id);
create index record_sources_by_seq on record_sources (user_id, seq);

-- Log entries that wrote no version: a retirement with its id, an erasure with the id's hash.
create table endings (
    user_id uuid not null,
    seq bigint not null,
    op text not null,
    id text collate "C" not null,
    at bigint not null,
    primary key (user_id, seq)
) partition by hash (user_id);
create index endings_by_id on endings (user_id, id);

-- Embeddings as the embedder wrote them, with what ranking needs beside them, so that loading them reads nothing else.
-- `embedder` is the hash of its name.
create table traces (
    user_id uuid not null,
    embedder uuid not null,
    seq bigint not null,
    place bigint not null,
    noun text not null,
    id text collate "C" not null,
    at bigint not null,
    role text,
    persona text collate "C",
    lane text collate "C",
    session text collate "C",
    speaker text,
    vector bytea not null,
    primary key (user_id, embedder, seq)
) partition by hash (user_id);
alter table traces alter column vector set storage external;

create table cursors (
    user_id uuid not null,
    step text collate "C" not null,
    position bigint not null,
    due bigint,
    attempts integer not null,
    error text,
    parked boolean not null,
    body text not null,
    primary key (user_id, step)
) partition by hash (user_id);

create table snapshots (
    user_id uuid not null,
    id text collate "C" not null,
    at bigint not null,
    known bigint not null,
    body text not null,
    whole boolean not null,
    primary key (user_id, id)
) partition by hash (user_id);
create index snapshots_by_time on snapshots (user_id, at, id);

create table blobs (
    user_id uuid not null,
    hash text collate "C" not null,
    text text not null,
    primary key (user_id, hash)
) partition by hash (user_id);

create table notes (
    user_id uuid not null,
    name text collate "C" not null,
    body text not null,
    expires bigint,
    primary key (user_id, name)
) partition by hash (user_id);
