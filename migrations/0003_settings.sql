-- What Settings changes. Flags, the environment and boocode.toml go before it.

create table settings (
    key text primary key,
    value jsonb not null,
    changed_at timestamptz not null default now()
);

create table model_servers (
    id uuid primary key,
    name text not null,
    url text not null,
    -- Where it is, normalised, so that two spellings of one place are one server. One on loopback carries its host.
    slot_key text not null,
    lane text not null check (lane in ('local', 'cloud')),
    parallel integer not null check (parallel between 1 and 64),
    -- The name of the variable that holds the key, never the key.
    api_key_env text,
    -- What it serves, where it cannot list that itself.
    models jsonb not null default '[]',
    added_at timestamptz not null default now(),
    -- A removed one stays for a while, so that whoever still waits for it can be told.
    removed_at timestamptz,
    constraint model_servers_name_unique unique (name)
);
create unique index model_servers_place_unique on model_servers (slot_key) where removed_at is null;

-- A browser that is signed out takes the codes with it that it made for others.
alter table login_tokens add column made_by uuid references browser_sessions (id) on delete cascade;
