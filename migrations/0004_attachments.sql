-- Files that go with messages.

create table attachments (
    id uuid primary key,
    chat_id uuid not null references chats (id),
    name text not null,
    mime text not null,
    body bytea not null,
    -- Read from the project because the text names it.
    is_mention boolean not null default false,
    created_at timestamptz not null default now(),
    -- The message that it was first sent or queued with; null until then. A queued one is in no other table
    -- that this could refer to.
    message_id uuid
);
create index attachments_unsent on attachments (chat_id, created_at) where message_id is null;
create index attachments_by_message on attachments (message_id) where message_id is not null;

-- What is shown of them, in order: [{id, name, media, bytes}, …]
alter table messages
    add column attachments jsonb not null default '[]',
    add column left_out jsonb not null default '[]';
alter table queued_messages
    add column attachments jsonb not null default '[]',
    add column left_out jsonb not null default '[]';
