-- How the panes of a session lie: domain::layout::Layout. A session without a row has none open.
create table layouts (
    session_id uuid primary key references sessions (id),
    layout jsonb not null
);
