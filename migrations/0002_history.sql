-- The history: when something last happened in a chat, and what was said in it, as words that are found.

-- Written with the message or the outcome that it tells of, so that the list is read in the order of an index
-- and nothing has to be looked up in every chat.
alter table chats add column active_at timestamptz not null default now();
update chats set active_at = greatest(
    created_at, (select max(messages.created_at) from messages where messages.chat_id = chats.id)
);
create index chats_by_activity on chats (active_at, id);

-- One row for each title, question and answer, written in the transaction that makes it.
--
-- An answer's words are known when its task settles: until then it is a stream of chunks with marks between
-- reasoning and text, and indexing each chunk would cost every batch and cut words in two. Its text is kept here
-- once more, because a snippet cut out of a stream would need all of it, reasoning included.
--
-- The words are cut by domain::search and not by to_tsvector: Postgres takes src/main.rs and
-- https://a.example/b for one word each, so that neither main nor example finds them; it knows no words in
-- Chinese and Japanese; and where letters end depends on the locale of whoever made the database. For the rest
-- it is the simple configuration: lower case, every word counts, found by its beginning.
create table search_entries (
    -- The message that says it, or the chat whose title it is.
    id uuid primary key,
    chat_id uuid not null references chats (id),
    -- The beginning of a long text: domain::search::TEXT_BYTES_MAX.
    body text not null,
    words tsvector not null
);
create index search_entries_by_chat on search_entries (chat_id);
create index search_entries_by_word on search_entries using gin (words);

-- What was said before is indexed by the next server that starts (store/src/search.rs, index_missing): only
-- domain::transcript can read a stream.
