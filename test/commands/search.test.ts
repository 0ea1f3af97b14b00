import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { cliHome } from '../helpers/cli.js'

const home = cliHome()

interface Row {
  score: number
  filename: string
  place: string
  text: string
  documentId: string
  nodeId: string
}

async function json<T>(...args: string[]): Promise<T> {
  const { code, stdout, stderr } = await home.ks([...args, '-s', 'notes', '--json'])
  expect({ code, stderr }).toMatchObject({ code: 0 })
  return JSON.parse(stdout)
}

beforeAll(async () => {
  const step = (n: number) => `Step ${n} of mooring the ferry is to throw line number ${n} to the quay.`
  home.file('notes/on-call.md', '# Duty\n\n## Summer\n\nIn August, Ida Keller is on call.\n')
  for (let n = 1; n <= 12; n++) home.file(`notes/mooring-${n}.md`, `# Mooring ${n}\n\n${step(n)}\n`)
  await home.ks(['spaces', 'create', 'Notes', '--slug', 'notes'])
  await home.ks(['ingest', 'notes', '-s', 'notes', '--wait'])
})
afterAll(() => home.end())

describe('ks search', () => {
  it('lists passages in the order of a query, with scores and locations', async () => {
    const query = 'throw a line to the quay when mooring the ferry'
    for (const mode of ['fast', 'deep', 'research']) {
      const found = await json<Row[]>('search', ...query.split(' '), '-m', mode)
      const answer = await json<Record<'citations' | 'evidence', { number: number; nodeId: string; score: number }[]>>(
        'query',
        query,
        '-m',
        mode,
      )
      const passages = [...answer.citations, ...answer.evidence].sort((one, other) => one.number - other.number)
      expect(
        found.map(({ nodeId, score }) => [nodeId, score]),
        mode,
      ).toEqual(passages.map(({ nodeId, score }) => [nodeId, score]))
    }
    const [duty] = await json<Row[]>('search', 'who', 'is', 'on', 'call')
    expect(duty).toMatchObject({ filename: expect.stringContaining('on-call.md'), place: 'Duty › Summer' })
    expect(duty?.text).toContain('Ida Keller')
    expect(duty?.score).toBeGreaterThan(0)
  })

  it('accepts a limit and documents by path, and can list documents instead of passages', async () => {
    const all = await json<Row[]>('search', 'mooring', '-n', '100')
    expect(all.length).toBeGreaterThanOrEqual(12)
    expect((await json<Row[]>('search', 'mooring', '-n', '3')).map(({ nodeId }) => nodeId)).toEqual(
      all.slice(0, 3).map(({ nodeId }) => nodeId),
    )
    const within = await json<Row[]>('search', 'mooring', '--doc', 'mooring-7.md')
    expect(new Set(within.map(({ filename }) => filename.split('/').at(-1)))).toEqual(new Set(['mooring-7.md']))
    const files = await home.ks(['search', 'mooring', '-s', 'notes', '-n', '100', '--files-with-matches'])
    const names = files.stdout
      .trim()
      .split('\n')
      .map((line) => line.split('\t')[0])
    expect(new Set(names).size).toBe(names.length)
    expect(names).toHaveLength(12)
  })

  it('reports the words that were searched for instead of typos', async () => {
    const { stdout, stderr } = await home.ks(['search', 'moorng', 'the', 'fery', '-s', 'notes'])
    expect(stdout).toContain('mooring')
    expect(stderr).toContain('also searched for “mooring ferry” (asked: “moorng fery”)')
  })

  it('leaves neither a trace nor a failed query, and reports an empty result', async () => {
    const traces = (await json<object[]>('traces')).length
    const failed = (await json<object[]>('failed')).length
    expect(await home.ks(['search', 'zygomorphic', '-s', 'notes'])).toMatchObject({
      code: 0,
      stdout: '',
      stderr: 'No passage was found.\n',
    })
    expect(await json<object[]>('traces')).toHaveLength(traces)
    expect(await json<object[]>('failed')).toHaveLength(failed)
    expect((await home.ks(['search', '', '-s', 'notes'])).code).toBe(2)
  })
})
