-- Battles: one prompt to two to six contestants, what each made of it, and who won.

alter table tasks drop constraint tasks_work_check;
alter table tasks add constraint tasks_work_check check (work in (
    'chat_turn', 'coder_turn', 'title', 'contestant', 'check', 'digest', 'judgement', 'examination', 'step'
));

create table battles (
    id uuid primary key,
    session_id uuid not null references sessions (id),
    project_id uuid not null references projects (id),
    battle_type text not null check (battle_type in ('coding', 'qa')),
    prompt text not null,
    -- domain::battle::Terms
    terms jsonb not null,
    status text not null check (status in ('running', 'analysing', 'completed', 'cancelled')),
    stopped text check (stopped in ('by_person', 'spent')),
    -- domain::battle::CheckState
    base_check jsonb not null,
    created_at_ms bigint not null,
    finished_at_ms bigint,
    -- The person's own choice; the judge's stands in its analysis.
    winner_contestant_id uuid,
    -- Whom the newest verdict names, for lists.
    judged_contestant_id uuid,
    -- Where its results were written.
    results_path text
);
create index battles_by_project on battles (project_id, id);
create index battles_by_session on battles (session_id, id);
create index battles_unfinished on battles (id) where status in ('running', 'analysing');

create table contestants (
    id uuid primary key,
    battle_id uuid not null references battles (id),
    -- 0 is A.
    place integer not null,
    identity text not null,
    -- server/model
    model text not null,
    variant text not null default '',
    lane text not null check (lane in ('local', 'cloud')),
    -- Its newest task, and all of them.
    task_id uuid references tasks (id),
    tries jsonb not null default '[]',
    worktree_id uuid,
    status text not null,
    error text,
    duration_ms bigint,
    tokens_per_sec double precision,
    cost_tokens bigint,
    -- domain::battle::Benchmark
    benchmark jsonb,
    -- domain::worktree::Changes
    changes jsonb,
    -- domain::battle::CheckState
    checked jsonb not null,
    -- In its results folder.
    result_path text,
    constraint contestants_place_unique unique (battle_id, place),
    constraint contestants_unique unique (battle_id, identity, model, variant)
);
create index contestants_by_task on contestants (task_id);
alter table battles
    add constraint battles_winner_fkey foreign key (winner_contestant_id) references contestants (id);

-- domain::battle::Analysis. One that is over never changes.
create table analyses (
    battle_id uuid not null references battles (id),
    number integer not null,
    analysis jsonb not null,
    primary key (battle_id, number)
);

create table cross_examinations (
    task_id uuid primary key references tasks (id),
    battle_id uuid not null references battles (id),
    place bigint generated always as identity,
    examiner jsonb not null,
    question text,
    asked_at_ms bigint not null
);
create index cross_examinations_by_battle on cross_examinations (battle_id, place);

alter table tasks add constraint tasks_battle_id_fkey foreign key (battle_id) references battles (id);

-- What an attempt left behind besides what it said: its change as a patch, how a check ended. Written by the attempt
-- before it reports, and read with its report.
create table task_results (
    task_id uuid not null references tasks (id),
    attempt integer not null,
    changes jsonb,
    checked jsonb,
    patch bytea,
    primary key (task_id, attempt)
);
alter table task_results alter column patch set storage external;

-- A worktree is a Coder's, or an attempt's of a battle, or both when a Coder goes on from there.
alter table worktrees alter column chat_id drop not null;
alter table worktrees add column task_id uuid references tasks (id);
alter table worktrees add column attempt integer;
alter table worktrees add constraint worktrees_owned check (chat_id is not null or task_id is not null);
create index worktrees_by_task on worktrees (task_id, attempt) where task_id is not null;
