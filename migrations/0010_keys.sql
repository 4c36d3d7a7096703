-- Keys that were entered in Settings, never as they are: each is sealed with a secret that lies in the data directory
-- of its host and in no database. Another host that shares this one cannot open it, and has one of its own.
create table model_server_keys (
    server text not null references model_servers (name) on delete cascade,
    host text not null,
    sealed bytea not null,
    entered_at timestamptz not null default now(),
    primary key (server, host)
);
