-- The machine that a process ran on: a name that may be another one at its next start.
alter table instances add column machine text;
