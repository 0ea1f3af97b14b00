import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { cliHome } from '../helpers/cli.js'

/** Names that look alike or contain unusual characters; a file system distinguishes them. */
const NAMES = [
  'ab.md',
  'a\tb.md',
  'a\nb.md',
  'x.md',
  ' x.md',
  'x.md ',
  'a\\c.md',
  'a/c.md',
  'caf\u00e9.md',
  'cafe\u0301.md',
  'caf\u00e9/in.md',
  'cafe\u0301/in.md',
  'evil\u202etxt.md',
  'eviltxt.md',
  '"quoted".md',
  'C:x.md',
  'C.md',
  '%41.md',
  'A.md',
  `${'l'.repeat(252)}.md`,
  `${'l'.repeat(251)}k.md`,
  '\u0001.md',
  '   ',
]

const home = cliHome()
const folder = join(home.dir, 'odd')

beforeAll(async () => {
  for (const name of NAMES) home.file(join('odd', name), `# Title\n\nThe file is number ${NAMES.indexOf(name)}.\n`)
  expect(await home.ks(['spaces', 'create', 'odd'])).toMatchObject({ code: 0 })
})
afterAll(() => home.end())

const kept = async (): Promise<string[]> => {
  const listed = await home.ks(['docs', '--all', '--json'])
  return JSON.parse(listed.stdout).map(({ filename }: { filename: string }) => filename)
}

describe('file names that look alike', () => {
  it('stay distinct and unchanged, and a second ingest finds nothing to do', async () => {
    const first = await home.ks(['ingest', 'odd', '--wait', '--hidden'])
    expect(first, first.stderr).toMatchObject({ code: 0 })
    expect((await kept()).sort()).toEqual(NAMES.map((name) => `odd/${name}`).sort())
    const second = await home.ks(['ingest', 'odd', '--wait', '--json'])
    expect(second).toMatchObject({ code: 0 })
    expect(JSON.parse(second.stdout).map(({ status }: { status: string }) => status)).toEqual(
      NAMES.map(() => 'unchanged'),
    )
  })

  it('get separate paths, by which each file can be read', async () => {
    const all = JSON.parse((await home.ks(['fs', 'find', '/sources/uploads', '--all', '--json'])).stdout)
    const found = all.filter(({ kind }: { kind: string }) => kind === 'resource')
    expect(new Set(found.map(({ path }: { path: string }) => path)).size).toBe(NAMES.length)
    for (const { path, metadata } of found) {
      const { stdout, stderr } = await home.ks(['fs', 'cat', path])
      const number = NAMES.indexOf(metadata.filename.slice('odd/'.length))
      expect(stdout, stderr).toContain(`The file is number ${number}.`)
    }
  })

  it('appear escaped in `ks docs`, each in a line', async () => {
    const { stdout } = await home.ks(['docs', '--all', '--format', 'table', '--no-header', '--fields', 'filename'])
    const lines = stdout.split('\n').slice(0, -1)
    expect(new Set(lines).size).toBe(NAMES.length)
    expect(lines).toEqual(
      expect.arrayContaining(['odd/x.md', '"odd/x.md "', '"odd/a\\tb.md"', '"odd/evil\\u202etxt.md"']),
    )
  })
})

describe.skipIf(process.platform !== 'linux')('a name that is not UTF-8', () => {
  it('makes only its file fail, with its name in the report; all further files are ingested', async () => {
    mkdirSync(join(home.dir, 'latin'))
    writeFileSync(
      Buffer.concat([Buffer.from(join(home.dir, 'latin/caf')), Buffer.from([0xe9]), Buffer.from('.md')]),
      '# One\n\nText.\n',
    )
    home.file('latin/plain.md', '# Two\n\nOther text.\n')
    home.file('latin/\ufffd.md', '# Three\n\nThe mark itself is a name.\n')
    const { code, stdout, stderr } = await home.ks(['ingest', 'latin', '--wait', '--json'])
    expect(code).toBe(3)
    expect(JSON.parse(stdout)).toEqual([
      expect.objectContaining({ filename: 'latin/plain.md', status: 'published' }),
      expect.objectContaining({ filename: 'latin/\ufffd.md', status: 'published' }),
      { filename: 'latin/caf\\xE9.md', status: 'failed', reason: 'its name is not UTF-8' },
    ])
    expect(JSON.parse(stderr.split('\n').at(-2) ?? '').error.exitCode).toBe(3)
    expect(existsSync(folder)).toBe(true)
  })
})
