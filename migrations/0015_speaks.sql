-- Which APIs a model server has besides chat completions, as a list of domain::protocol::Protocol. Null: it is asked.

alter table model_servers add column speaks jsonb;
