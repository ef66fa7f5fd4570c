-- What belongs to no single user. It holds no user's content, so no user's wall stands before it.

-- Who has a store.
create table users (
    user_id uuid primary key,
    tenant text collate "C" not null,
    name text collate "C" not null
);
create index users_by_name on users (tenant, name);

create table hints (
    user_id uuid primary key,
    tenant text collate "C" not null,
    name text collate "C" not null,
    due bigint not null
);
create index hints_by_due on hints (due);

create table documents (
    tenant text collate "C" not null,
    kind text collate "C" not null,
    name text collate "C" not null,
    version integer not null,
    body text not null,
    recorded_at bigint not null,
    primary key (tenant, kind, name, version)
);
