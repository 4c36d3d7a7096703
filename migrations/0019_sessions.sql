-- What an agent can go on from holds the conversation up to one answer. Of what was kept before, nobody knows which.
update worktrees
set agent_sessions = (
    select jsonb_object_agg(kept.key, jsonb_build_object('session', kept.value))
    from jsonb_each(agent_sessions) as kept
)
where agent_sessions <> '{}';
