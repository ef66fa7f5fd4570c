-- name: are_made
-- Whether a file has all indexes that follow.
SELECT count(*) = 4 FROM sqlite_schema
WHERE name IN ('turns_by_persona', 'turns_by_lane', 'turns_by_session', 'turns_by_time')

-- name: by_persona
-- The newest turns with a persona.
CREATE INDEX IF NOT EXISTS turns_by_persona ON turns (persona, place) WHERE retired IS NULL

-- name: by_lane
-- The newest turns of a lane.
CREATE INDEX IF NOT EXISTS turns_by_lane ON turns (persona, lane, place) WHERE retired IS NULL

-- name: by_session
-- The turns of a session.
CREATE INDEX IF NOT EXISTS turns_by_session ON turns (session, place) WHERE retired IS NULL

-- name: by_time
-- The turns of a day.
CREATE INDEX IF NOT EXISTS turns_by_time ON turns (persona, lane, at, place) WHERE retired IS NULL
