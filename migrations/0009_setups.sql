-- What the worktrees of a project begin with besides its files: domain::setup::Setup.
create table project_setups (
    project_id uuid primary key references projects (id),
    setup jsonb not null,
    changed_at timestamptz not null default now()
);
