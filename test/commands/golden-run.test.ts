import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { cliHome } from '../helpers/cli.js'

const home = cliHome()
afterAll(() => home.end())

const HARBOUR = `# Harbour handbook

Who works here reads this first.

## Berths

Visitors moor at the eastern quay, in the order of their arrival. The pilot boards at the outer buoy.

## Fees

Mooring costs nine crowns a night. Water and power are included in the price of a berth.
`

/** The same text with other numbers, after a new chapter: passages have other boundaries, and every id changes. */
const SHIFTED = HARBOUR.replace(
  '## Berths',
  `## 1. Opening hours\n\n${'The office is open from eight to five, and closed on holidays of the town. '.repeat(60)}\n\n## 2. Berths`,
).replace('## Fees', '## 3. Fees')

const LIGHTS = '# Lights\n\n## Beacon\n\nThe beacon flashes twice every ten seconds and is seen from twelve miles.\n'

const QUESTIONS = `questions:
  - id: price
    question: What does mooring cost a night?
    expect:
      - document: harbour.md
        heading: [Fees]
        quote: mooring costs NINE crowns
    tags: [money]
  - id: pilot
    question: Where does the pilot board?
    expect: { document: docs/harbour.md, quote: "The pilot boards at the outer buoy" }
    tags: [sea]
  - id: beacon
    question: How often does the beacon flash?
    expect: lights.md
    tags: [sea]
  - id: foreign
    question: Which enzyme splits lactose in the bowel of a mammal?
    answerable: false
`

const golden = (args: string[]) => home.ks(['golden', 'run', '--space', 'port', ...args])

async function report(args: string[] = []) {
  const run = await golden(['--file', 'golden.yaml', '--json', ...args])
  return { ...run, report: JSON.parse(run.stdout) }
}

async function put(files: Record<string, string>): Promise<void> {
  for (const [name, text] of Object.entries(files)) home.file(join('docs', name), text)
  const run = await home.ks(['ingest', 'docs', '--space', 'port', '--wait'])
  expect(run).toMatchObject({ code: 0 })
}

beforeAll(async () => {
  home.file('golden.yaml', QUESTIONS)
  expect(await home.ks(['spaces', 'create', 'Port', '--slug', 'port'])).toMatchObject({ code: 0 })
  await put({ 'harbour.md': HARBOUR, 'lights.md': LIGHTS })
})

describe('ks golden run', () => {
  it('measures recall, rank and answerability, in total and by tag, and passes a gate', async () => {
    const {
      code,
      report: found,
      stderr,
    } = await report(['--min-recall', '1', '--min-mrr', '1', '--min-answerable', '1'])
    expect(stderr).toBe('')
    expect(code).toBe(0)
    expect(found).toMatchObject({
      questions: 4,
      measured: 4,
      unresolved: 0,
      failed: 0,
      passed: true,
      metrics: { questions: 4, recall: 1, mrr: 1, answerable: 1 },
      tags: { money: { questions: 1, recall: 1 }, sea: { questions: 2, recall: 1 } },
    })
    expect(found.results.map((result: { id: string }) => result.id)).toEqual(['price', 'pilot', 'beacon', 'foreign'])
    const { baseline: _, ...kept } = found
    expect(Object.keys(kept)).not.toContain('baseline')
  })

  it('finds the labels of its questions after the passages of the document got other boundaries and ids', async () => {
    const nodes = async () => {
      const { stdout } = await home.ks(['query', 'What does mooring cost a night?', '--space', 'port', '--json'])
      const { citations, evidence } = JSON.parse(stdout)
      return [...citations, ...evidence].map((item: { nodeId: string }) => item.nodeId)
    }
    const before: string[] = await nodes()
    await golden(['--file', 'golden.yaml', '--save-baseline', 'baseline.json'])
    await put({ 'harbour.md': SHIFTED })
    const after: string[] = await nodes()
    expect(after.filter((id) => before.includes(id) && before.indexOf(id) === 0)).toEqual([])

    const { code, report: found } = await report(['--baseline', 'baseline.json'])
    expect(found).toMatchObject({ unresolved: 0, metrics: { recall: 1 }, passed: true })
    expect(code).toBe(0)

    // Labels by id do not survive that: they are reported as unresolved.
    const line = JSON.stringify({ question: 'What does mooring cost a night?', expectedEvidenceIds: [before[0]] })
    home.file('ids.jsonl', `${line}\n`)
    const byId = await golden(['--file', 'ids.jsonl', '--json', '--min-recall', '0'])
    expect(JSON.parse(byId.stdout)).toMatchObject({ measured: 0, unresolved: 1 })
    expect(byId.code).toBe(10)
    expect((await golden(['--file', 'ids.jsonl'])).code).toBe(3)
  })

  it('reports a regression against the baseline with exit 10 and the question', async () => {
    const first = ['--file', 'golden.yaml', '--k', '1']
    expect((await golden([...first, '--save-baseline', 'first.json'])).code).toBe(0)
    expect((await golden([...first, '--baseline', 'first.json'])).code).toBe(0)
    // A page that repeats the question ranks before the one that answers it.
    await put({
      'pilots.md': '# Where does the pilot board?\n\nWhere does the pilot board, asks the pilot on board.\n',
    })
    const run = await golden([...first, '--baseline', 'first.json', '--junit', 'golden.xml', '--format', 'table'])
    expect(run.code).toBe(10)
    expect(run.stdout).toContain('Worse than the baseline:\n  Where does the pilot board?')
    expect(run.stdout).toMatch(/failed {2}baseline-recall: 0\.667, at least 1\.000/)
    const xml = readFileSync(join(home.dir, 'golden.xml'), 'utf8')
    expect(xml).toMatch(/<testsuites tests="7" failures="3" errors="0" skipped="0">/)
    expect(xml).toContain('name="Where does the pilot board?"><failure message="worse than the baseline"/>')
    expect((await golden([...first, '--baseline', 'first.json', '--tolerance', '0.4'])).code).toBe(0)
  })

  it('reports labels without a match, with exit 3', async () => {
    await put({ 'harbour.md': SHIFTED.replace(/The pilot boards[^.]*\./, '') })
    const { code, report: found } = await report()
    expect(code).toBe(3)
    const pilot = found.results.find((result: { id: string }) => result.id === 'pilot')
    expect(pilot).toMatchObject({ status: 'unresolved', unresolved: ['docs/harbour.md does not contain the quote'] })
    expect(pilot.recall).toBeUndefined()
    home.file(
      'lost.json',
      JSON.stringify([
        { question: 'a quay?', expect: { document: 'nowhere.md' } },
        { question: 'b quay?', expect: { document: 'harbour.md', heading: ['Customs'] } },
        { question: 'c quay?', expect: { document: 'harbour.md', heading: ['Fees'], quote: 'eastern quay' } },
      ]),
    )
    const lost = await golden(['--file', 'lost.json', '--json', '--save-baseline', 'lost-baseline.json'])
    expect(JSON.parse(lost.stdout).results.map((result: { unresolved: string[] }) => result.unresolved[0])).toEqual([
      'no document has the path "nowhere.md"',
      expect.stringContaining('has no section Customs'),
      'the quote is not under Fees',
    ])
    expect(lost.code).toBe(3)
    expect(lost.stderr).toContain('the baseline was not saved')
  })

  it('runs golden questions that the space stores with labels in their metadata', async () => {
    const body = {
      question: 'How much is a night at the quay?',
      tags: ['stored'],
      metadata: { expect: [{ document: 'docs/harbour.md', heading: 'Fees' }] },
    }
    const { id } = JSON.parse((await home.ks(['spaces', 'show', 'port', '--json'])).stdout)
    const path = `/knowledge-spaces/${id}/golden-questions`
    expect(await home.ks(['api', 'POST', path, '--input', home.file('q.json', JSON.stringify(body))])).toMatchObject({
      code: 0,
    })
    const run = await golden(['--json', '--mode', 'fast', '--k', '10'])
    expect(run.code).toBe(0)
    expect(JSON.parse(run.stdout)).toMatchObject({
      mode: 'fast',
      questions: 1,
      metrics: { recall: 1 },
      tags: { stored: {} },
    })
    const both = await golden(['--json', '--stored', '--file', 'golden.yaml', '--tag', 'stored', '--tag', 'money'])
    expect(JSON.parse(both.stdout)).toMatchObject({ questions: 2 })
  })

  it('exits with 10 if a required minimum is not reached or has no measured value', async () => {
    home.file(
      'half.json',
      JSON.stringify([
        { question: 'What does mooring cost a night?', expect: ['harbour.md', 'pilots.md'] },
        { question: 'How often does the beacon flash?', expect: 'pilots.md' },
      ]),
    )
    const run = await golden(['--file', 'half.json', '--k', '1', '--min-recall', '0.9', '--json'])
    expect(run.code).toBe(10)
    expect(JSON.parse(run.stdout)).toMatchObject({
      k: 1,
      passed: false,
      checks: [{ name: 'min-recall', holds: false }],
    })
    const none = await golden(['--file', 'golden.yaml', '--tag', 'money', '--limit', '1', '--min-recall', '1'])
    expect(none.code).toBe(0)
    home.file('only.json', JSON.stringify([{ question: 'Which enzyme splits lactose?', answerable: false }]))
    expect((await golden(['--file', 'only.json', '--min-recall', '0'])).code).toBe(10)
    expect((await golden(['--file', 'only.json', '--min-answerable', '1'])).code).toBe(0)
  })

  it('fails the gate if the passages are right and the answer is wrong', async () => {
    const questions = (answer: string, not: string) =>
      `- question: How often does the beacon flash?\n  expect: { document: lights.md, answer: ["${answer}"], not: ["${not}"], state: answerable }\n`
    home.file('right.yaml', questions('every  TEN seconds', 'twenty seconds'))
    home.file('wrong.yaml', questions('twenty seconds', 'every ten seconds'))
    const gate = ['--min-recall', '1', '--min-mrr', '1', '--min-answerable', '1', '--min-answer', '1']
    expect(await golden(['--file', 'right.yaml', ...gate, '--save-baseline', 'answers.json'])).toMatchObject({
      code: 0,
    })
    const run = await golden(['--file', 'wrong.yaml', ...gate, '--baseline', 'answers.json', '--json'])
    expect(run.code).toBe(10)
    const wrong = { right: false, missing: ['twenty seconds'], forbidden: ['every ten seconds'] }
    expect(JSON.parse(run.stdout)).toMatchObject({
      metrics: { recall: 1, mrr: 1, answerable: 1, answer: 0 },
      checks: expect.arrayContaining([expect.objectContaining({ name: 'min-answer', holds: false })]),
      baseline: { broken: ['How often does the beacon flash?'] },
      results: [{ recall: 1, missing: [], answer: wrong }],
    })
    // The same question in the space: added, exported and imported with its expected answer.
    const expected = ['--expect-answer', 'twenty seconds', '--expect-state', 'answerable', '--tag', 'light']
    const added = await home.ks([
      'golden',
      'add',
      'How often does the beacon flash?',
      '--space',
      'port',
      '--json',
      ...expected,
    ])
    const { id } = JSON.parse(added.stdout)
    const stored = async () => JSON.parse((await golden(['--tag', 'light', '--json'])).stdout).results
    expect(await golden(['--tag', 'light', '--min-answer', '1'])).toMatchObject({ code: 10 })
    const { stdout } = await home.ks(['golden', '--export', '--space', 'port'])
    expect(stdout).toContain('"expect":{"answer":["twenty seconds"],"state":"answerable"}')
    await home.ks(['golden', 'update', id, '--expect-answer', 'ten seconds', '--space', 'port'])
    home.file('exported.jsonl', stdout)
    expect(await stored()).toMatchObject([{ answer: { right: true } }])
    await home.ks(['golden', 'delete', id, '--space', 'port'])
    await home.ks(['golden', 'add', '--file', 'exported.jsonl', '--space', 'port'])
    expect(await stored()).toMatchObject([{ answer: { right: false } }])
  })

  it('refuses an invalid question file with the position of the error', async () => {
    const refused = async (name: string, text: string, said: string | RegExp) => {
      writeFileSync(join(home.dir, name), text)
      const run = await golden(['--file', name])
      expect(run.code).toBe(2)
      expect(run.stderr).toMatch(said)
    }
    await refused('a.jsonl', '{"question":"x"}\n{"question":', /a\.jsonl:2 is not valid JSON/)
    await refused('b.yaml', 'questions: [ {question: x', /b\.yaml is not valid YAML/)
    await refused('c.yaml', '- question: x\n  expects: y', /c\.yaml: question 1 has an unknown key "expects"/)
    await refused(
      'd.json',
      '[{"question":"x","expect":[{"quote":"y"}]}]',
      /d\.json: question 1: expect 1 must name a document/,
    )
    await refused('e.json', '[{"question":"x"},{"question":"x"}]', /two questions have the id "x"/)
    await refused('f.json', '{}', /f\.json must contain a list of questions/)
    expect((await golden(['--file', 'golden.yaml', '--min-recall', '85'])).code).toBe(2)
    expect((await golden(['--file', 'golden.yaml', '--tag', 'nobody'])).code).toBe(2)
  })
})

describe('ks why, and files of ks golden', () => {
  it('`ks why` lists the stages, or prints the object with --json, and exits with 0 in both cases', async () => {
    const people = await home.ks([
      'why',
      'How often does the beacon flash?',
      'lights.md',
      '--space',
      'port',
      '--format',
      'table',
    ])
    expect(people.code).toBe(0)
    expect(people.stdout).toMatch(/^in the evidence: docs\/lights\.md\n/)
    expect(people.stdout).toContain('✓ text-leg')
    expect(people.stdout).toMatch(/titleCoverage +0\.7 x /)
    const missing = await home.ks(['why', 'zymurgy', 'lights.md', '--space', 'port', '--json'])
    expect(missing.code).toBe(0)
    expect(JSON.parse(missing.stdout)).toMatchObject({ verdict: 'no-term-in-common' })
    const tsv = await home.ks(['why', 'zymurgy', 'nowhere.md', '--space', 'port'])
    expect(tsv.stdout).toMatch(/^document\tfailed\tunknown-path\t/)
  })

  it('`ks why --trace` explains a recorded query', async () => {
    const asked = await home.ks(['query', 'How often does the beacon flash?', '--space', 'port', '--json'])
    const { traceId } = JSON.parse(asked.stdout)
    const run = await home.ks(['why', '--trace', traceId, 'lights.md', '--space', 'port', '--json'])
    expect(JSON.parse(run.stdout)).toMatchObject({ verdict: 'shown', trace: { id: traceId, reproduced: true } })
    expect((await home.ks(['why', '--trace', traceId, 'x', 'lights.md', '--space', 'port'])).code).toBe(2)
    expect((await home.ks(['why', 'a question alone', '--space', 'port'])).code).toBe(2)
  })

  it('an unreadable baseline or question file leads to exit 2 with path and reason', async () => {
    home.file('other.json', '{"version":2}')
    home.file('folder/inner.json', '{}')
    const wrong: [string[], string][] = [
      [['--baseline', 'nowhere.json'], 'the baseline cannot be read from "nowhere.json": no such file or folder'],
      [['--baseline', 'folder'], 'the baseline cannot be read from "folder": it is a folder'],
      [['--baseline', 'other.json'], 'other.json is not a baseline of'],
      [['--file', 'nowhere.yaml'], 'the list of questions cannot be read from "nowhere.yaml": no such file or folder'],
    ]
    for (const [args, message] of wrong) {
      const run = await golden(args)
      expect([run.code, run.stderr]).toEqual([2, expect.stringContaining(message)])
    }
    const imported = await home.ks(['golden', 'add', '--file', 'nowhere.jsonl', '--space', 'port'])
    expect([imported.code, imported.stderr]).toEqual([
      2,
      expect.stringContaining('"nowhere.jsonl": no such file or folder'),
    ])
  })
})
