-- A Coder: a chat whose turns are an agent's work in a worktree.

alter table chats add column kind text not null default 'chat' check (kind in ('chat', 'coder'));

alter table tasks drop constraint tasks_work_check;
alter table tasks add constraint tasks_work_check check (work in ('chat_turn', 'coder_turn', 'title'));
-- Who does the work and how: domain::chat::Coder. Null where no agent works.
alter table tasks add column coder jsonb;
-- A task that needs a folder is done where that folder is.
alter table tasks add column host text;
alter table queued_messages add column coder jsonb;

-- Where agents work. The folder has the id for its name, below the data directory of its host.
create table worktrees (
    id uuid primary key,
    chat_id uuid not null references chats (id),
    project_id uuid not null references projects (id),
    host text not null,
    base text not null,
    carried boolean not null,
    state text not null check (state in ('ready', 'discarded', 'gone')),
    -- What an agent can go on from, by its name.
    agent_sessions jsonb not null default '{}',
    created_at timestamptz not null default now(),
    constraint worktrees_chat_unique unique (chat_id)
);
create index worktrees_by_project on worktrees (project_id);
