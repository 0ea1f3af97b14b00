import { KsError, notFoundError } from '../../../../contract/errors.js'
import type { ExpectedAnswer, GoldenQuestion } from '../../../../contract/gateway/golden-questions.js'
import { LIMITS } from '../../../../contract/limits.js'
import { EVIDENCE_STATES } from '../../../../contract/values.js'
import { isUuid, newId } from '../../../../lib/ids.js'
import { omitUndefined } from '../../../../lib/omit-undefined.js'
import { type Read, readClock, sql, type Write } from '../../../store/program.js'
import { parseJsonCell } from '../../../store/readable.js'
import { type Reader, toReaderParameter } from '../../../store/rows/permissions.js'
import { addQuotes, listRestrictedSources, sqlCanReadQuotes } from '../../../store/rows/quotes.js'
import type { SpaceRow } from '../../../store/rows/spaces.js'

/** A row of `golden_questions`. */
interface GoldenQuestionRow {
  id: string
  question: string
  /** JSON: ids of nodes */
  expected_evidence: string
  /** JSON */
  expected_answer: string | null
  /** JSON */
  tags: string
  /** JSON */
  metadata: string
  created_at: number
  updated_at: number
}

export type GoldenContent = Pick<GoldenQuestion, 'question' | 'expectedEvidenceIds' | 'expect' | 'tags' | 'metadata'>

const COLUMNS = 'id, question, expected_evidence, expected_answer, tags, metadata, created_at, updated_at'

/** Adds a golden question, inside the caller's transaction. @throws KsError `capacity-exceeded` */
export function* insertGolden(reader: Reader, space: SpaceRow, content: GoldenContent): Write<GoldenQuestion> {
  const existing = yield* sql.get<{ n: number }>(
    'SELECT count(*) n FROM golden_questions WHERE tenant = ? AND space_key = ?',
    [space.tenant, space.key],
  )
  if ((existing?.n ?? 0) >= LIMITS.goldenPerSpace)
    throw new KsError('capacity-exceeded', `a knowledge space holds at most ${LIMITS.goldenPerSpace} golden questions`)
  const id = newId()
  const now = yield* readClock()
  yield* sql.run(
    `INSERT INTO golden_questions
       (id, tenant, space_key, question, expected_evidence, expected_answer, tags, metadata, created_at, updated_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    [id, space.tenant, space.key, ...encodeContent(content), now, now],
  )
  yield* addQuotes({ tenant: space.tenant, id }, yield* listRestrictedSources(reader, content.expectedEvidenceIds))
  return yield* findGolden(reader, space, id)
}

/**
 * @throws KsError `not-found`, also for a question of another space or tenant, and one with quotes that the reader may
 * not read
 */
export function* findGolden(reader: Reader, space: SpaceRow, id: string): Read<GoldenQuestion> {
  const golden = yield* lookupGolden(reader, space, id)
  if (golden === undefined) throw notFoundError('golden question', id)
  return golden
}

export function* lookupGolden(reader: Reader, space: SpaceRow, id: string): Read<GoldenQuestion | undefined> {
  if (!isUuid(id)) return undefined
  const row = yield* sql.get<GoldenQuestionRow>(
    `SELECT ${COLUMNS} FROM golden_questions WHERE tenant = ? AND space_key = ? AND id = ?
       AND ${sqlCanReadQuotes('golden_questions')}`,
    [space.tenant, space.key, id, toReaderParameter(reader)],
  )
  return row === undefined ? undefined : toGolden(space, row)
}

/** Questions after an id, oldest first. */
export function* listGoldenAfter(
  reader: Reader,
  space: SpaceRow,
  after: string,
  limit: number,
): Read<GoldenQuestionRow[]> {
  return yield* sql.all<GoldenQuestionRow>(
    `SELECT ${COLUMNS} FROM golden_questions WHERE tenant = ? AND space_key = ? AND id > ?
       AND ${sqlCanReadQuotes('golden_questions')} ORDER BY id LIMIT ?`,
    [space.tenant, space.key, after, toReaderParameter(reader), limit],
  )
}

/** Replaces the content of a question, inside the caller's transaction. */
export function* updateGolden(
  reader: Reader,
  space: SpaceRow,
  id: string,
  content: GoldenContent,
): Write<GoldenQuestion> {
  yield* sql.run(
    `UPDATE golden_questions SET question = ?, expected_evidence = ?, expected_answer = ?, tags = ?, metadata = ?,
       updated_at = ?
     WHERE tenant = ? AND space_key = ? AND id = ?`,
    [...encodeContent(content), yield* readClock(), space.tenant, space.key, id],
  )
  yield* addQuotes({ tenant: space.tenant, id }, yield* listRestrictedSources(reader, content.expectedEvidenceIds))
  return yield* findGolden(reader, space, id)
}

/** @returns whether it existed */
export function* removeGolden(reader: Reader, space: SpaceRow, id: string): Write<boolean> {
  if (!isUuid(id)) return false
  return (
    (yield* sql.run(
      `DELETE FROM golden_questions WHERE tenant = ? AND space_key = ? AND id = ?
         AND ${sqlCanReadQuotes('golden_questions')}`,
      [space.tenant, space.key, id, toReaderParameter(reader)],
    )).changes > 0
  )
}

function encodeContent(content: GoldenContent): [string, string, string | null, string, string] {
  return [
    content.question,
    JSON.stringify(content.expectedEvidenceIds),
    content.expect === undefined ? null : JSON.stringify(content.expect),
    JSON.stringify(content.tags),
    JSON.stringify(content.metadata),
  ]
}

function parseExpectation({ expected_answer }: Pick<GoldenQuestionRow, 'expected_answer'>): ExpectedAnswer | undefined {
  const value: unknown = expected_answer === null ? undefined : parseJsonCell(expected_answer)
  return isExpectation(value) ? value : undefined
}

const STATES: readonly unknown[] = EVIDENCE_STATES

/** Checks a stored expectation: a damaged row may contain other values. */
function isExpectation(value: unknown): value is ExpectedAnswer {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  const { answer, not, state, ...rest }: { [name: string]: unknown } = { ...value }
  const isTextList = (entry: unknown): boolean =>
    entry === undefined || (Array.isArray(entry) && entry.every((text) => typeof text === 'string' && text !== ''))
  const isEmpty = state === undefined && [answer, not].every((entry) => !Array.isArray(entry) || entry.length === 0)
  const isState = state === undefined || STATES.includes(state)
  return isTextList(answer) && isTextList(not) && isState && !isEmpty && Object.keys(rest).length === 0
}

export function toGolden(space: SpaceRow, row: GoldenQuestionRow): GoldenQuestion {
  const expectedEvidenceIds: string[] = parseJsonCell(row.expected_evidence)
  const tags: string[] = parseJsonCell(row.tags)
  const metadata: Record<string, unknown> = parseJsonCell(row.metadata)
  return {
    id: row.id,
    knowledgeSpaceId: space.id,
    question: row.question,
    expectedEvidenceIds,
    ...omitUndefined({ expect: parseExpectation(row) }),
    tags,
    metadata,
    createdAt: new Date(row.created_at).toISOString(),
    updatedAt: new Date(row.updated_at).toISOString(),
  }
}
