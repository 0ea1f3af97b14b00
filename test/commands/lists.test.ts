import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { cliHome } from '../helpers/cli.js'

const FILES = 60
const home = cliHome()
const lines = (text: string) => text.split('\n').filter((line) => line !== '')

beforeAll(async () => {
  for (let number = 1; number <= FILES; number++) {
    home.file(`notes/n${number}.md`, `# Note ${number}\n\nThe needle of note ${number}.\n`)
  }
  const done = await home.ks(['ingest', 'notes', '--wait', '--space', 'notes', '--create'])
  expect(done, done.stderr).toMatchObject({ code: 0 })
})
afterAll(() => home.end())

describe('a list in a pipe', () => {
  it.each([
    [['docs']],
    [['docs', '--json']],
    [['fs', 'ls', '/knowledge/documents']],
    [['fs', 'find', '/knowledge/documents', '--type', 'document']],
    [['fs', 'grep', 'needle', '/sources']],
    [['fs', 'grep', 'needle', '/sources', '--json']],
  ])('printed by ks %j contains all entries', async (args) => {
    const { code, stdout, stderr } = await home.ks(args)
    const shown = args.includes('--json') ? JSON.parse(stdout) : lines(stdout)
    expect([code, shown.length, stderr]).toEqual([0, FILES, ''])
  })

  it.each([
    [['docs', '--limit', '7']],
    [['fs', 'ls', '/knowledge/documents', '--limit', '7']],
    [['fs', 'grep', 'needle', '/sources', '--limit', '7']],
    [['fs', 'find', '/knowledge/documents', '--type', 'document', '--limit', '7']],
  ])('printed by ks %j is truncated with a note on stderr, and continues at the printed cursor', async (args) => {
    const first = await home.ks(args)
    expect(lines(first.stdout)).toHaveLength(7)
    const cursor = /^more: (?:`--all`, or|omit `--limit`, or add) `--cursor (\S+)`\n$/.exec(first.stderr)?.[1] ?? ''
    const rest = await home.ks([...args.slice(0, -2), '--cursor', cursor])
    expect(lines(rest.stdout)).toHaveLength(FILES - 7)
    expect(lines(rest.stdout)).not.toContain(lines(first.stdout)[0])
  })

  it('printed by `ks fs tree` with a limit is truncated with a note on stderr', async () => {
    const { stdout, stderr } = await home.ks(['fs', 'tree', '/knowledge', '--limit', '10', '--format', 'tsv'])
    expect(lines(stdout).length).toBeLessThan(FILES)
    expect(stderr).toContain('There is more')
  })
})

describe('ks fs cat', () => {
  it('prints a document by its path', async () => {
    for (const path of ['/knowledge/documents/n3.md', '/sources/uploads/notes/n3.md']) {
      const { stdout, stderr } = await home.ks(['fs', 'cat', path])
      expect([stdout, stderr]).toEqual(['Note 3\n\nThe needle of note 3.', ''])
    }
  })
})
