-- The server at which a running task wants a place again: whoever was asked on its behalf has answered.
alter table tasks add column wants_slot text;

create index tasks_wants_slot on tasks (wants_slot) where wants_slot is not null;
