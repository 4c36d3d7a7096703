-- When a background task was given this place last, by the clock of whoever claimed it.
alter table slots add column background_at_ms bigint;

-- People go before whatever else waits (domain::slot::rank).
update tasks set rank = queued_at_ms - (1::bigint << 60)
where status = 'queued' and work in ('chat_turn', 'coder_turn', 'examination');
