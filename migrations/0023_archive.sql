-- What was put away: out of the lists, and found in the history. A chat of a session that was put away has no mark of
-- its own, so it comes back with its session.

alter table projects add column archived boolean not null default false;
alter table sessions add column archived boolean not null default false;
alter table chats add column archived boolean not null default false;

-- A page lists the newest chats of each session, and those at work.
create index chats_listed on chats (session_id, id) where not archived;
create index tasks_unsettled_by_chat on tasks (chat_id) where chat_id is not null and status <> 'settled';
