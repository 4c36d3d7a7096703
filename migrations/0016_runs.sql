-- Runs: one flow at work on a project, step by step, and what it reported.

create table flow_runs (
    id uuid primary key,
    session_id uuid not null references sessions (id),
    project_id uuid not null references projects (id),
    flow text not null,
    band text not null check (band in ('small', 'medium', 'large')),
    fast boolean not null,
    -- Empty for the whole project.
    target text not null check (octet_length(target) <= 1024),
    focus text not null check (octet_length(focus) <= 65536),
    -- domain::run::Terms
    terms jsonb not null,
    -- One that nobody has begun is running too: its steps tell.
    status text not null check (status in ('running', 'done', 'failed', 'cancelled')),
    cancelling boolean not null default false,
    error text,
    attempts_max integer not null check (attempts_max > 0),
    created_at_ms bigint not null,
    finished_at_ms bigint,
    constraint flow_runs_finished check ((status = 'running') = (finished_at_ms is null)),
    constraint flow_runs_error check ((status = 'failed') = (error is not null))
);
create index flow_runs_by_project on flow_runs (project_id, id);
create index flow_runs_by_session on flow_runs (session_id, id);
create index flow_runs_unfinished on flow_runs (id) where status = 'running';

create table flow_steps (
    run_id uuid not null references flow_runs (id),
    -- In the order of the roster.
    place integer not null,
    -- Unique in its run: domain::flow::StepId
    step text not null,
    -- domain::flow::Step, with what it needs by now.
    plan jsonb not null,
    -- What carries it out, from when it is ready.
    task_id uuid unique references tasks (id),
    status text not null check (status in (
        'waiting', 'queued', 'running', 'done', 'failed', 'skipped', 'cancelled'
    )),
    -- The attempt that counts, of one that is done.
    attempt integer,
    -- Why it failed or was skipped.
    reason text,
    -- What an agent answered in the end. Longer ones keep their end.
    output text check (octet_length(output) <= 262144),
    primary key (run_id, step),
    constraint flow_steps_place_unique unique (run_id, place),
    constraint flow_steps_carried check (status not in ('queued', 'running', 'done', 'failed') or task_id is not null),
    constraint flow_steps_done check ((status = 'done') = (attempt is not null)),
    constraint flow_steps_reason check ((status in ('failed', 'skipped')) = (reason is not null))
);

alter table tasks add constraint tasks_run_id_fkey foreign key (run_id) references flow_runs (id);

-- What a fold counted and what a report holds, written by the attempt before it reports.
alter table task_results add column tally jsonb;
alter table task_results add column report jsonb;
