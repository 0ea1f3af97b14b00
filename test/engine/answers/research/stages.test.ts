import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'
import { removeFolder } from '../../../../bench/lib/removed-folder.js'
import { ResearchStage } from '../../../../src/contract/gateway/research.js'
import { listSubQuestions } from '../../../../src/engine/answers/research/questions.js'
import { insertStep } from '../../../../src/engine/answers/rows/research/steps.js'
import { Database } from '../../../../src/engine/store/database.js'
import { sql } from '../../../../src/engine/store/program.js'
import { listEventsAfter } from '../../../../src/engine/store/rows/research/events.js'
import { isTerminal, mayMove } from '../../../../src/engine/store/rows/research/stages.js'
import type { ResearchTaskKey } from '../../../../src/engine/store/rows/research/task-key.js'
import { findTaskByKey, moveTask } from '../../../../src/engine/store/rows/research/tasks.js'
import { newId } from '../../../../src/lib/ids.js'

const STAGES = ResearchStage.options
const WAY: readonly ResearchStage[] = ['queued', 'planning', 'retrieving', 'analyzing', 'generating', 'completed']
const dir = mkdtempSync(join(tmpdir(), 'ks-research-'))
const db = new Database(join(dir, 'main.sqlite'), Date.now)
db.now(
  sql.run(
    `INSERT INTO spaces (id, tenant, name, slug, created_at, updated_at, manifest_id, manifest_version, manifest,
     embedding_plugin, embedding_provider, embedding_model, embedding_revision, vector_space, head_revision,
     publication_id, fingerprint, published_at)
   VALUES (?, 't', 'S', 's', 1, 1, ?, 1, '{}', 'p', 'p', 'm', 1, 'v', 0, ?, 'f', 1)`,
    [newId(), newId(), newId()],
  ),
)
const space = db.now(sql.get<{ key: number }>('SELECT key FROM spaces'))!.key
afterAll(async () => {
  await db.close()
  removeFolder(dir)
})

const ours = { claimed_by: 'one', fence: 1 }
const CLAIMS = [ours, { claimed_by: 'one', fence: 0 }, { claimed_by: 'another', fence: 1 }]

function newTask(stage: ResearchStage, claim: string | null = 'one'): ResearchTaskKey {
  const id = newId()
  db.now(
    sql.run(
      `INSERT INTO research_tasks (id, tenant, subject, space_key, queue_id, query, mode, route, snapshot, profile, stage,
       claimed_by, fence, created_at, updated_at) VALUES (?, 't', 's', ?, ?, 'x', 'fast', '{}', '{}', '{}', ?, ?, 1, 1, 1)`,
      [id, space, newId(), stage, claim],
    ),
  )
  return { tenant: 't', id }
}

describe('the stages of a research task', () => {
  test('lead along one path to completed, and from every open stage to failed or canceled', () => {
    for (const from of STAGES)
      for (const to of STAGES) {
        const place = WAY.indexOf(from)
        const open = place >= 0 && from !== 'completed'
        const expected = open && (to === WAY[place + 1] || to === 'failed' || to === 'canceled')
        expect(mayMove(from, to), `${from} → ${to}`).toBe(expected)
      }
    expect(STAGES.filter(isTerminal)).toEqual(['completed', 'failed', 'canceled'])
  })

  test('change in the database only along the allowed path, with one event per change, none for a rejected one', () => {
    const move = fc.record({
      from: fc.constantFrom(...STAGES),
      to: fc.constantFrom(...STAGES),
      claim: fc.constantFrom(...CLAIMS, undefined),
    })
    fc.assert(
      fc.property(fc.array(move, { maxLength: 25 }), (moves) => {
        const task = newTask('queued')
        let stage: ResearchStage = 'queued'
        let told = 0
        for (const { from, to, claim } of moves) {
          const asked = { from, to, now: 2, ...(claim === undefined ? {} : { claim }) }
          if (!mayMove(from, to)) {
            expect(() => db.now(moveTask(task, asked))).toThrow('cannot move')
            continue
          }
          // A foreign claim and an earlier claim of the same gateway move nothing, and an ended task has no claim.
          const moved = from === stage && (claim === undefined || claim === ours)
          expect(db.now(moveTask(task, asked))).toBe(moved)
          if (!moved) continue
          stage = to
          told += 1
        }
        const row = db.now(findTaskByKey(task))!
        expect(row.stage).toBe(stage)
        expect(row.completed_at !== null).toBe(isTerminal(stage))
        const events = db.now(listEventsAfter(task, 0, 100))
        expect(events.map(({ sequence }) => sequence)).toEqual(Array.from({ length: told }, (_, place) => place + 1))
        const last = events.filter(({ event }) => event !== 'research.stage')
        expect(last.length).toBe(isTerminal(stage) ? 1 : 0)
      }),
      { numRuns: 300 },
    )
  })

  test('guard writes: a step is not stored if its task was moved, ended or claimed by another gateway', () => {
    const step = { key: 'plan', name: 'plan' as const, body: {}, toolCalls: 0, scanned: 0, latencyMs: 1 }
    const at = { now: 3, activeMs: 4 }
    const task = newTask('planning')
    const row = db.now(findTaskByKey(task))!
    expect(db.now(insertStep({ ...row, claimed_by: 'another' }, step, at))).toBe(false)
    expect(db.now(insertStep({ ...row, fence: row.fence - 1 }, step, at))).toBe(false)
    expect(db.now(insertStep({ ...row, stage: 'retrieving' }, step, at))).toBe(false)
    expect(db.now(sql.get('SELECT 1 FROM research_steps WHERE task_id = ?', [task.id]))).toBeUndefined()
    expect(db.now(insertStep(row, step, at))).toBe(true)
    // The table itself rejects the same step twice.
    expect(() => db.now(insertStep(row, step, at))).toThrow('UNIQUE')
    db.now(moveTask(task, { from: 'planning', to: 'canceled', now: 5 }))
    expect(db.now(insertStep(row, { ...step, key: 'other' }, at))).toBe(false)
  })
})

describe('the sub-questions of a question', () => {
  test.each([
    [
      'How long are traces kept and why is the clean-up delayed?',
      ['How long are traces kept', 'why is the clean-up delayed?'],
    ],
    ['Compare Tantivy and FTS5 in terms of speed', ['speed of Tantivy', 'speed of FTS5']],
    ['What is the difference between fast and deep mode?', ['fast mode', 'deep mode']],
    ['What goes well with salt and pepper?', ['What goes well with salt and pepper?']],
    ['Who measured it?\n- 1. When was it measured?', ['Who measured it?', 'When was it measured?']],
    ['潮汐是什么？谁测量的？', ['潮汐是什么？', '谁测量的？']],
    ['???', ['???']],
    ['Compare the turnover of Norwick and the staff of Tellmar.', ['turnover of Norwick', 'staff of Tellmar']],
    [
      'Compare the turnover and the staff of Norwick and Tellmar in 2020',
      [
        'turnover of Norwick in 2020',
        'staff of Norwick in 2020',
        'turnover of Tellmar in 2020',
        'staff of Tellmar in 2020',
      ],
    ],
    ["How does Norwick's turnover compare with Tellmar's?", ['turnover of Norwick', 'turnover of Tellmar']],
    [
      "How did Norwick's turnover change between 2019 and 2020?",
      ['turnover of Norwick in 2019', 'turnover of Norwick in 2020'],
    ],
    [
      'List the branches of Norwick, Tellmar and Old Quay.',
      ['branches of Norwick', 'branches of Tellmar', 'branches of Old Quay'],
    ],
    [
      'For each of Norwick and Tellmar, what is the number of branches?',
      ['number of branches of Norwick', 'number of branches of Tellmar'],
    ],
    [
      "What was Norwick's turnover in 2020? And what about Tellmar?",
      ["What was Norwick's turnover in 2020?", "What was Tellmar's turnover in 2020?"],
    ],
    ["What is Norwick's turnover and what about its staff?", ["What is Norwick's turnover", 'staff of Norwick']],
    ['Vergleiche den Umsatz von Norwick und Tellmar', ['Norwick: Umsatz', 'Tellmar: Umsatz']],
    [
      'What is the contract between Norwick and Tellmar about?',
      ['What is the contract between Norwick and Tellmar about?'],
    ],
    [
      'Why did the turnover of Norwick fall between 2019 and 2020?',
      ['Why did the turnover of Norwick fall between 2019 and 2020?'],
    ],
  ])('for "%s": %j', (query, parts) => {
    expect(listSubQuestions(query)).toEqual(parts)
  })

  test('number one to eight, without repeats, for any text', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1, maxLength: 400, unit: 'grapheme' }), (query) => {
        const parts = listSubQuestions(query)
        expect(parts.length).toBeGreaterThan(0)
        expect(parts.length).toBeLessThanOrEqual(8)
        expect(new Set(parts).size).toBe(parts.length)
      }),
    )
  })

  test('take bounded time for a text of 15,000 characters', { timeout: 30_000 }, () => {
    listSubQuestions('compare a and '.repeat(1100))
    listSubQuestions(`${' '.repeat(8000)}and${' '.repeat(7900)}`)
  })
})
