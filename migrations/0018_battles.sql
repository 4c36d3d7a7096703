-- What is written of battles, what comparing them used, and what of a result could not be kept.

-- What digests, judgements and cross-examinations used.
alter table battles add column opinion_tokens bigint not null default 0;

-- Grows with everything that its results folder tells; the folder tells what was so at written_revision.
alter table battles add column revision bigint not null default 0;
alter table battles add column written_revision bigint;
update battles set written_revision = 0
where results_path is not null and status in ('completed', 'cancelled');
create index battles_unwritten on battles (id) where written_revision is distinct from revision;

-- A verdict on a try that was made again since names nobody.
update battles set judged_contestant_id = null
where judged_contestant_id in (select id from contestants where status <> 'done');

-- Why the change of an attempt, and so of a contestant, could not be kept.
alter table task_results add column unkept text;
alter table contestants add column unkept text;
