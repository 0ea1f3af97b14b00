/** Answers that were kept for repeats held the keys of chat applications in clear. */
export const KEPT_SECRETS_SCHEMA = `
UPDATE idempotency SET body = json_set(body, '$.key', NULL)
  WHERE json_valid(body) AND json_type(body, '$.key') = 'text' AND json_type(body, '$.hint') = 'text';
`
