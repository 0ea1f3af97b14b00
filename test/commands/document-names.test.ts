import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { cliHome } from '../helpers/cli.js'

const home = cliHome()
const ids: Record<string, string> = {}

/** Runs a command that must succeed. @returns its JSON */
async function json<T>(...args: string[]): Promise<T> {
  const { code, stdout, stderr } = await home.ks([...args, '--json'])
  expect({ code, stderr }).toMatchObject({ code: 0 })
  return JSON.parse(stdout)
}

beforeAll(async () => {
  home.file('handbook/on-call.md', 'In August, Ida Keller is on call.\n')
  home.file('handbook/keys.md', 'The blue key opens the boat house.\n')
  home.file('archive/keys.md', 'The old key was lost in 1994.\n')
  await home.ks(['spaces', 'create', 'Notes', '--slug', 'notes'])
  await home.ks(['ingest', 'handbook', 'archive', '-s', 'notes', '--wait'])
  for (const { id, filename } of await json<{ id: string; filename: string }[]>('docs', '-s', 'notes'))
    ids[filename] = id
})
afterAll(() => home.end())

describe('a document argument', () => {
  const show = (name: string, cwd?: string) =>
    home.ks(['docs', 'show', name, '-s', 'notes', '--json'], cwd === undefined ? {} : { cwd })
  const nameOf = (suffix: string): string => Object.keys(ids).find((name) => name.endsWith(suffix)) ?? ''

  it('can be a path, the end of a path, or the ingested file', async () => {
    const full = nameOf('on-call.md')
    for (const name of [full, 'on-call.md', './on-call.md', join(home.dir, 'handbook', 'on-call.md')])
      expect(JSON.parse((await show(name)).stdout), name).toMatchObject({ id: ids[full] })
    const beside = await show('handbook/on-call.md')
    expect(JSON.parse(beside.stdout)).toMatchObject({ id: ids[full] })
  })

  it('leads to a list of ids if several documents match', async () => {
    const { code, stdout, stderr } = await show('keys.md', '/')
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    const { error } = JSON.parse(stderr)
    expect(error.message).toMatch(/^"keys\.md" matches 2 documents: #[0-9a-f]{8} .*keys\.md, #[0-9a-f]{8} .*keys\.md$/)
    const [tail = ''] = /#[0-9a-f]{8}/.exec(error.message) ?? []
    expect(Object.values(ids)).toContain(JSON.parse((await show(tail)).stdout).id)
  })

  it('leads to exit code 5 with similar names if none matches', async () => {
    const { code, stderr } = await show('on-cal.md')
    expect(code).toBe(5)
    expect(JSON.parse(stderr).error).toMatchObject({ message: 'no document has the path "on-cal.md"' })
    // A file of another folder is not the ingested one, although its path ends alike.
    home.file('elsewhere/handbook/on-call.md', 'something else')
    expect((await show(join(home.dir, 'elsewhere', 'handbook', 'nothing.md'))).code).toBe(5)
  })

  it('works the same in every command that takes a document', async () => {
    const name = nameOf('on-call.md')
    for (const command of [
      ['show', '--as', 'elements'],
      ['show', '--as', 'outline'],
      ['reindex'],
      ['delete', '--dry-run'],
    ])
      expect(await home.ks(['docs', ...command, name, '-s', 'notes']), command[0]).toMatchObject({ code: 0 })
    const asked = await json<{ citations: { documentAssetId: string }[] }>(
      'query',
      'who is on call',
      '-s',
      'notes',
      '--doc',
      'on-call.md',
    )
    expect(asked.citations.map(({ documentAssetId }) => documentAssetId)).toEqual([ids[name]])
    const why = await json<{ verdict: string }>(
      'why',
      'who is on call',
      'on-call.md',
      '-s',
      'notes',
      '--doc',
      'on-call.md',
    )
    expect(why.verdict).toBe('shown')
  })
})

describe('a question argument', () => {
  it('needs no quotes: all words except flags belong to it, in their order', async () => {
    const traceOf = async (...words: string[]): Promise<string> => {
      const { traceId } = await json<{ traceId: string }>('query', ...words)
      return (await json<{ query: string }>('traces', 'show', traceId)).query
    }
    expect(await traceOf('who', 'is', 'on', 'call', '-s', 'notes', 'in', 'August')).toBe('who is on call in August')
    expect(
      await traceOf('-s', 'notes', 'what', 'is', 'it', 'that', 'is', 'in', 'notes', '-m', 'fast', 'and', 'fast'),
    ).toBe('what is it that is in notes and fast')
  })

  it('does not include an unknown flag, which is refused', async () => {
    expect(await home.ks(['query', 'who', 'is', '--spce', 'notes'])).toMatchObject({
      code: 2,
      stderr: 'ks: unknown flag `--spce` for `ks query`\nhint: did you mean `--space`?\n',
    })
  })
})

it('`ks daemon exec` passes arguments on unchanged, including repeated arguments', async () => {
  const script = 'process.stdout.write(JSON.stringify(process.argv.slice(1)))'
  const { stdout } = await home.ks([
    'daemon',
    'exec',
    '--temp',
    '--',
    'node',
    '-e',
    script,
    'b',
    'a',
    'b',
    '--temp',
    'node',
  ])
  expect(JSON.parse(stdout)).toEqual(['b', 'a', 'b', '--temp', 'node'])
})

describe('command names of other tools', () => {
  it.each([
    ['add', 'ingest PATH'],
    ['ls', 'docs'],
    ['status', 'daemon status'],
    ['ask', 'query QUESTION'],
    ['version', '--version'],
    ['grep', 'fs grep'],
    ['logs', 'daemon logs'],
  ])('`ks %s` suggests `ks %s`', async (typed, right) => {
    const { code, stderr } = await home.ks([typed])
    expect(code).toBe(2)
    expect(stderr).toContain(`did you mean \`ks ${right}\`?`)
  })

  it('lead to a suggestion even with further words', async () => {
    expect((await home.ks(['ask', 'who', 'is', 'there'])).stderr).toContain('did you mean `ks query QUESTION`?')
    expect((await home.ks(['add', 'notes.md'])).stderr).toContain('did you mean `ks ingest PATH`?')
  })
})
