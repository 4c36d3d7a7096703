-- The queued message in whose favour the running turn is being stopped.
alter table chats add column chosen uuid references queued_messages (id) on delete set null;

-- Every message that leaves the queue asks who named it.
create index chats_chosen on chats (chosen) where chosen is not null;
