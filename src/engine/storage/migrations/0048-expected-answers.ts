/** Golden questions expect an answer. */
export const EXPECTED_ANSWERS_SCHEMA = `
-- JSON: texts that the answer contains and does not contain, and the state of its evidence
ALTER TABLE golden_questions ADD COLUMN expected_answer TEXT;
CREATE INDEX golden_questions_answer ON golden_questions (space_key, tenant, substr(question, 1, 200))
  WHERE expected_answer IS NOT NULL;
`
