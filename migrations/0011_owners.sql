-- A task is a chat's, a battle's or a run's.
alter table tasks alter column chat_id drop not null;
alter table tasks add column battle_id uuid;
alter table tasks add column run_id uuid;
alter table tasks add constraint tasks_one_owner check (num_nonnulls(chat_id, battle_id, run_id) = 1);
create index tasks_by_battle on tasks (battle_id) where battle_id is not null;
create index tasks_by_run on tasks (run_id) where run_id is not null;
-- The longest that an attempt may take, where its owner says so.
alter table tasks add column limit_s integer;
