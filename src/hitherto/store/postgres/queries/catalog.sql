-- The catalog: what belongs to no single user. These statements name no user's content; those that span users are never
-- part of a user's transaction.

-- name: documents
select distinct on (d.name) d.name, d.version, d.body, d.recorded_at, d.about
from documents d
where d.tenant = %(tenant)s and d.kind = %(kind)s
order by d.name, d.version desc

-- name: named_documents
-- A statement of its own, so that the plan that is kept finds each by its name.
select distinct on (d.name) d.name, d.version, d.body, d.recorded_at, d.about
from documents d
where d.tenant = %(tenant)s and d.kind = %(kind)s and d.name = any (%(names)s::text[])
order by d.name, d.version desc

-- name: last_documents
-- The newest version by a look at each name: a join with the newer ones may read all of the kind for every row.
select d.name, d.version, d.body, d.recorded_at, d.about
from documents d
where d.tenant = %(tenant)s and d.kind = %(kind)s and {about}
    and (%(before)s::text is null or d.name < %(before)s::text)
    and d.version = (
        select max(n.version) from documents n where n.tenant = d.tenant and n.kind = d.kind and n.name = d.name
    )
order by d.name desc
limit %(limit)s

-- name: versions
select d.name, d.version, d.body, d.recorded_at, d.about
from documents d
where d.tenant = %(tenant)s and d.kind = %(kind)s and d.name = %(name)s
order by d.version

-- name: kinds
select distinct d.tenant, d.kind from documents d order by d.tenant, d.kind

-- name: put_document
-- Compare-and-set: of several who write the same version, one inserts a row.
insert into documents (tenant, kind, name, version, body, recorded_at, about)
values (%(tenant)s, %(kind)s, %(name)s, %(version)s, %(body)s, %(at)s, %(about)s)
on conflict do nothing
returning version

-- name: delete_document
delete from documents d
where d.tenant = %(tenant)s and d.kind = %(kind)s and d.name = %(name)s
returning d.version

-- name: put_hint
insert into hints (user_id, tenant, name, due) values (%(user)s, %(tenant)s, %(name)s, %(due)s)
on conflict (user_id) do update set due = excluded.due
returning user_id

-- name: clear_hint
delete from hints h where h.user_id = %(user)s
returning h.user_id

-- name: due
select h.tenant, h.name from hints h where h.due <= %(now)s order by h.due, h.user_id limit %(limit)s

-- name: users
select u.tenant, u.name
from users u
where %(tenant)s::text is null or u.tenant = %(tenant)s::text
order by u.tenant, u.name

-- name: count_users
select count(*) from users u

-- name: unregister
delete from users u where u.user_id = %(user)s
