-- Runs that need less: what their projects held when they began can be thrown away, and their pages no longer carry all
-- that their agents said.

-- What the project held when the run began was deleted. The report stays.
alter table flow_runs add column freed boolean not null default false;
create index flow_runs_recorded on flow_runs ((terms->>'host'), id) where not freed;

-- How many bytes of an agent's answer were not kept.
alter table flow_steps add column left_out bigint not null default 0 check (left_out >= 0);
-- How often the agent tried to change something.
alter table flow_steps add column tried integer not null default 0 check (tried >= 0);
