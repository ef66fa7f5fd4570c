-- What is known about one user, such as who linked to them or exported them, is found without reading what is known about others.

alter table documents add column about text collate "C";

update documents set about = body::json ->> 'user' where kind in ('audit', 'link');

create index documents_by_user on documents (tenant, kind, about, name) where about is not null;
