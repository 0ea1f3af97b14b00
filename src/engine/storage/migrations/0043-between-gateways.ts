/** What equal gateways of one server ask of each other. A store that one process has to itself writes none of it. */
export const BETWEEN_GATEWAYS_SCHEMA = {
  sqlite: text('INTEGER', 'STRICT, WITHOUT ROWID'),
  postgres: `${text('bigint', '')}
SELECT isolate('chat_turn_requests');
SELECT isolate('chat_turn_frames');`,
}

function text(integer: string, options: string): string {
  return `
-- what others want of the gateway that answers a message
CREATE TABLE chat_turn_requests (
  tenant TEXT NOT NULL,
  message_id TEXT NOT NULL,
  -- who answers
  gateway TEXT NOT NULL,
  stop ${integer} NOT NULL DEFAULT 0,
  -- when somebody said last that the frames are read elsewhere; 0 for never
  followed_at ${integer} NOT NULL DEFAULT 0,
  PRIMARY KEY (tenant, message_id),
  FOREIGN KEY (tenant, message_id) REFERENCES chat_messages (tenant, id) ON DELETE CASCADE
) ${options};
CREATE INDEX chat_turn_requests_gateway ON chat_turn_requests (gateway);

-- frames of an answer that is followed at another gateway, for as long as it is
CREATE TABLE chat_turn_frames (
  tenant TEXT NOT NULL,
  message_id TEXT NOT NULL,
  -- how many came before, and how many these are
  first ${integer} NOT NULL,
  frame_count ${integer} NOT NULL,
  frames TEXT NOT NULL,
  -- none come after them
  last ${integer} NOT NULL,
  PRIMARY KEY (tenant, message_id, first),
  FOREIGN KEY (tenant, message_id) REFERENCES chat_turn_requests (tenant, message_id) ON DELETE CASCADE
) ${options};

-- what a gateway reads and deletes, as of its last heartbeat
CREATE TABLE held_leases (
  gateway TEXT NOT NULL,
  id TEXT NOT NULL,
  space_key ${integer} NOT NULL,
  session_id TEXT NOT NULL,
  subject TEXT,
  type TEXT NOT NULL CHECK (type IN ('read', 'delete')),
  target_type TEXT NOT NULL,
  target_id TEXT NOT NULL,
  target_version ${integer},
  virtual_path TEXT NOT NULL,
  fence ${integer} NOT NULL,
  acquired_at ${integer} NOT NULL,
  heartbeat_at ${integer} NOT NULL,
  PRIMARY KEY (gateway, id),
  FOREIGN KEY (gateway) REFERENCES gateways (id) ON DELETE CASCADE
) ${options};
CREATE INDEX held_leases_space ON held_leases (space_key);
`
}
