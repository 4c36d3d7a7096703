-- Projects, sessions and chats.

create table projects (
    id uuid primary key,
    name text not null,
    path text not null,
    created_at timestamptz not null default now(),
    constraint projects_path_unique unique (path)
);

create table sessions (
    id uuid primary key,
    project_id uuid not null references projects (id),
    name text not null,
    created_at timestamptz not null default now()
);

create table chats (
    id uuid primary key,
    session_id uuid not null references sessions (id),
    title text not null,
    titled_by text check (titled_by in ('prompt', 'model', 'person')),
    -- The last message of the branch that is shown.
    head uuid,
    created_at timestamptz not null default now()
);
create index chats_by_session on chats (session_id);

-- One unit of model work, whoever asked for it.
create table tasks (
    id uuid primary key,
    chat_id uuid not null references chats (id),
    work text not null check (work in ('chat_turn', 'title')),
    server text not null,
    model text not null,
    status text not null check (status in ('queued', 'running', 'settled')),
    -- The attempt that runs or ran last; 0 before the first.
    attempt integer not null default 0,
    attempts_max integer not null,
    -- [[attempt, length of its stream], …]
    lost jsonb not null default '[]',
    phase jsonb,
    cancelling boolean not null default false,
    outcome jsonb,
    settled_attempt integer,
    stream_len bigint not null default 0,
    queued_at_ms bigint not null,
    started_at_ms bigint,
    -- Who goes first at a server: domain::slot::rank.
    rank bigint not null,
    claimed_by uuid,
    lease_until timestamptz,
    -- Past this nobody renews the lease any more.
    deadline_at timestamptz,
    constraint tasks_running_is_leased
        check ((status = 'running') = (claimed_by is not null and lease_until is not null))
);
create index tasks_waiting on tasks (rank, id) where status = 'queued';
create index tasks_leased on tasks (lease_until) where status = 'running';
create index tasks_by_chat on tasks (chat_id);

-- A place at a model server: one row for a local server, as many as its limit for a cloud one.
create table slots (
    slot_key text not null,
    n integer not null,
    task_id uuid references tasks (id),
    primary key (slot_key, n),
    constraint slots_task_unique unique (task_id)
);

create table messages (
    id uuid primary key,
    chat_id uuid not null references chats (id),
    parent_id uuid references messages (id),
    -- The order within the chat, so that a parent always comes before its children.
    place bigint not null,
    -- A question has a body, an answer a task.
    body text,
    task_id uuid references tasks (id),
    created_at timestamptz not null default now(),
    constraint messages_question_or_answer check ((body is null) = (task_id is not null)),
    constraint messages_place_unique unique (chat_id, place)
);

create table queued_messages (
    id uuid primary key,
    chat_id uuid not null references chats (id),
    place bigint generated always as identity,
    reply_id uuid not null,
    task_id uuid not null,
    body text not null,
    server text not null,
    model text not null,
    paid boolean not null
);
create index queued_messages_by_chat on queued_messages (chat_id, place);

-- The output of one attempt: chunks while it grows, one body once it is folded.
create table streams (
    task_id uuid not null references tasks (id),
    attempt integer not null,
    len bigint not null default 0,
    ended boolean not null default false,
    body bytea,
    primary key (task_id, attempt)
);
-- Pieces of a body are read by offset; uncompressed and out of line that costs no more than the piece.
alter table streams alter column body set storage external;

create table stream_chunks (
    task_id uuid not null,
    attempt integer not null,
    start bigint not null,
    body bytea not null,
    primary key (task_id, attempt, start),
    foreign key (task_id, attempt) references streams (task_id, attempt)
);

-- The feed. The head row is locked last in every transaction, so commit order is number order, without gaps.
create table feed_head (
    only_row boolean primary key default true check (only_row),
    seq bigint not null
);
insert into feed_head (seq) values (0);

create table events (
    seq bigint primary key,
    at timestamptz not null default now(),
    event jsonb not null
);

-- The processes that claim tasks. One that starts on a data directory knows its predecessor there is gone.
create table instances (
    id uuid primary key,
    place text not null,
    started_at timestamptz not null default now()
);

-- Only hashes of secrets are kept.
create table login_tokens (
    hash bytea primary key,
    expires_at timestamptz not null
);

create table browser_sessions (
    id uuid primary key,
    secret bytea not null,
    label text not null,
    created_at timestamptz not null,
    seen_at timestamptz not null,
    expires_at timestamptz not null,
    constraint browser_sessions_secret_unique unique (secret)
);
