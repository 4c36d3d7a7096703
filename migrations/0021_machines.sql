-- The machine whose own model server is meant, where others may have one of the same name.
alter table tasks add column machine text;
alter table queued_messages add column machine text;
