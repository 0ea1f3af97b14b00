import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { cliHome } from '../helpers/cli.js'
import { until } from '../helpers/until.js'

const home = cliHome()
afterAll(() => home.end())

const NODE = '0192f0c1-2b6c-7e1a-9d7e-1c0a5f6b7d8e'
let trace = ''

/** Runs `ks` in the space and parses its JSON; a failure shows its output. */
async function ks(...args: string[]) {
  const { stdout, stderr, code } = await home.ks([...args, '--json'])
  expect([code, stderr]).toEqual([0, ''])
  return JSON.parse(stdout)
}

beforeAll(async () => {
  home.file('docs/tides.md', '# Tides\n\nThe moon pulls the tides of the sea. Spring tides are the highest.\n')
  expect((await home.ks(['spaces', 'create', 'Sea'])).code).toBe(0)
  expect((await home.ks(['config', 'space', 'sea'])).code).toBe(0)
  expect((await home.ks(['ingest', 'docs', '--wait', '-q'])).code).toBe(0)
  expect((await ks('query', 'What pulls the tides of the sea?')).finishReason).toBe('retrieval-evidence')
  trace = (await ks('query', 'Who conducts the orchestra?')).traceId
  await until(async () => (await ks('failed')).length === 1)
})

describe('ks traces', () => {
  it('lists your own queries, newest first, by time, mode, result and text', async () => {
    const all = await ks('traces')
    expect(all.map((one: { query: string }) => one.query)).toEqual([
      'Who conducts the orchestra?',
      'What pulls the tides of the sea?',
    ])
    const filters = ['--from', '1h', '--mode', 'fast', '--status', 'completed', '--query', 'TIDES']
    expect(await ks('traces', ...filters)).toMatchObject([{ evidenceState: 'answerable', completed: true }])
    expect(await ks('traces', '--to', '2020-01-01')).toEqual([])
    expect((await home.ks(['traces', '--from', 'yesterday'])).code).toBe(2)
  })

  it('shows the missing evidence of a query, and stores reviews of it', async () => {
    const { stdout } = await home.ks(['traces', 'show', '--missing', trace])
    expect(stdout).toMatch(/^missing-1\tnot-retrieved\t.*orchestra.*\t\n$/)
    const [item] = await ks('traces', 'show', 'last', '--missing')
    const fields = ['--space', 'sea', '-f', `traceId=${trace}`, '-f', `itemKey=${item.metadata.itemKey}`]
    const review = async (status: string, revision: number) =>
      JSON.parse(
        (
          await home.ks([
            'api',
            'reviewMissingEvidence',
            ...fields,
            ...['-f', `status=${status}`, '-f', 'reason=not our subject', '-F', `expectedRevision=${revision}`],
          ])
        ).stdout,
      )
    expect(await review('dismissed', 0)).toMatchObject({ status: 'dismissed', revision: 1 })
    expect(await review('active', 1)).toMatchObject({ revision: 2 })
    const history = await home.ks(['api', 'listMissingEvidenceHistory', ...fields, '--paginate'])
    expect(
      history.stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).action),
    ).toEqual(['dismiss', 'activate'])
  })

  it('creates a golden question from a recorded query with `ks golden add --trace`', async () => {
    const [, answered] = await ks('traces')
    const made = await ks('golden', 'add', '--trace', answered.id, '--reason', 'too short', '--tag', 'a', '--tag', 'b')
    expect(made).toMatchObject({ question: 'What pulls the tides of the sea?', tags: ['a', 'b'] })
    expect(made.expectedEvidenceIds).toHaveLength(1)
    expect((await home.ks(['golden', 'delete', made.id])).code).toBe(0)
  })
})

describe('ks failed', () => {
  it('lists, counts, groups, triages and decides failed queries', async () => {
    const [failed] = await ks('failed', '--status', 'pending-triage')
    expect(failed).toMatchObject({ query: 'Who conducts the orchestra?', answerTraceId: trace })
    expect(await ks('failed', '--clusters', '--limit', '5')).toMatchObject([{ count: 1, failedQueryIds: [failed.id] }])
    expect(await ks('failed', 'triage', '--limit', '10')).toMatchObject({ triaged: 1, verdicts: { irrelevant: 1 } })
    expect((await home.ks(['failed', 'triage', failed.id, 'whatever'])).code).toBe(2)
    const verdict = ['failed', 'triage', failed.id, 'retrieval-miss', '--expect', NODE, '--note', 'in the annex']
    const decided = await ks(...verdict)
    expect(decided.status).toBe('promoted')
    expect(await ks('failed', '--counts')).toMatchObject({ total: 1, promotionRate: 1 })
    const golden = await ks('golden', decided.metadata.verdict.goldenQuestionId)
    expect(golden).toMatchObject({ question: failed.query, expectedEvidenceIds: [NODE] })
    expect((await home.ks(['golden', 'delete', golden.id])).code).toBe(0)
    expect((await home.ks(['failed', 'triage', NODE, 'irrelevant'])).code).toBe(5)
  })
})

describe('ks golden', () => {
  it('adds, shows, changes, annotates and deletes golden questions', async () => {
    const added = await ks('golden', 'add', 'What are spring tides?', '--expect', NODE, '--tag', 'moon')
    expect(added).toMatchObject({ expectedEvidenceIds: [NODE], tags: ['moon'] })
    const updated = await ks('golden', 'update', added.id, '--question', 'Which tides are highest?', '--no-tags')
    expect(updated).toMatchObject({ question: 'Which tides are highest?', tags: [], expectedEvidenceIds: [NODE] })
    const annotated = await ks('golden', 'update', added.id, '--answer', 'correct', '--irrelevant', NODE)
    expect(annotated.metadata.annotation).toMatchObject({
      answerCorrectness: 'correct',
      evidenceRelevance: [{ evidenceId: NODE, relevant: false }],
    })
    expect(await ks('golden', 'list')).toEqual([annotated])
    expect((await home.ks(['golden', 'update', added.id])).code).toBe(2)
    expect(await ks('golden', 'delete', added.id)).toEqual({ id: added.id, deleted: true })
    expect((await home.ks(['golden', added.id])).code).toBe(5)
    expect(await home.ks(['golden', 'delete', 'last'])).toMatchObject({
      code: 5,
      stderr: 'ks: there is no golden question in this space yet\n',
    })
  })

  it('takes `last` for the newest golden question and run', async () => {
    await ks('golden', 'add', 'What are neap tides?')
    const newest = await ks('golden', 'add', 'What are spring tides?', '--tag', 'moon')
    expect(await ks('golden', 'last')).toEqual(newest)
    expect(await ks('golden', 'update', 'last', '--no-tags')).toMatchObject({ id: newest.id, tags: [] })
    expect(await ks('golden', 'delete', 'last')).toEqual({ id: newest.id, deleted: true })
    await home.ks(['golden', 'run'])
    const [run] = await ks('golden', '--runs')
    expect(await ks('golden', 'delete', 'last', '--run')).toEqual({ id: run.id, deleted: true })
    expect(await ks('golden', '--runs')).toEqual([])
    await ks('golden', 'delete', 'last')
  })

  it('exports what was imported; importing the export skips all questions', async () => {
    const lines = [
      { question: 'One?', expectedEvidenceIds: [NODE], tags: ['t'], metadata: { weight: 2 } },
      { question: 'Two?\n', expectedEvidenceIds: [], tags: [], metadata: {} },
    ]
    const file = home.file('golden.jsonl', `${lines.map((line) => JSON.stringify(line)).join('\n')}\n\n`)
    expect(await ks('golden', 'add', '--file', file)).toEqual({ imported: 2, skipped: 0 })
    const { stdout } = await home.ks(['golden', '--export'])
    expect(
      stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toEqual(lines)
    const again = await home.ks(['golden', 'add', '--file', '-', '--json'], { stdin: stdout })
    expect(JSON.parse(again.stdout)).toEqual({ imported: 0, skipped: 2 })
  })

  it('imports nothing of a file with a malformed line, and reports at which line the service refused a question', async () => {
    const good = '{"question":"Three?"}\n'
    for (const bad of ['{', '[]', '{"question":""}', '{"question":"a","tags":[1]}', '{"question":"a","answer":"b"}']) {
      const { code, stderr } = await home.ks(['golden', 'add', '--file', '-'], { stdin: `${good}${bad}\n` })
      expect([code, stderr]).toEqual([2, expect.stringContaining('line 2')])
    }
    expect((await ks('golden')).map((one: { question: string }) => one.question)).not.toContain('Three?')
    const refused = await home.ks(['golden', 'add', '--file', '-'], { stdin: `${good}{"question":"a","tags":[""]}\n` })
    expect([refused.code, refused.stderr]).toEqual([
      2,
      expect.stringContaining('stopped at line 2 of 2; 1 were imported'),
    ])
  })
})
