-- Whose a model call was: the session of the agent that made it, and the agent's name.
ALTER TABLE model_calls ADD COLUMN agent_session TEXT;
ALTER TABLE model_calls ADD COLUMN agent TEXT;
