-- What is known of the results of battles, and what their personas were told.

-- The same for contestants who made the same.
alter table contestants add column mark text;

-- What each persona of a battle said when that was launched.
alter table battles add column personas jsonb not null default '[]';

-- Why the results folder could not be written.
alter table battles add column unwritten text;
