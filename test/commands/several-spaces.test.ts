import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { cliHome } from '../helpers/cli.js'

const home = cliHome()
const QUESTION = 'How high are the tower of Brest and the tower of Crest?'
const BOTH = ['--space', 'west', '--space', 'south']

interface SpaceCitation {
  space: string
}

beforeAll(async () => {
  home.file('west/ops/brest.md', '# Brest\n\nThe tower of Brest is 40 metres high.\n')
  home.file('south/ops/crest.md', '# Crest\n\nThe tower of Crest is 60 metres high.\n')
  home.file('south/other/crest.md', '# Old\n\nThe tower of Crest was 50 metres high in 1900.\n')
  for (const slug of ['west', 'south', 'empty']) await home.ks(['spaces', 'create', slug, '--slug', slug])
  for (const slug of ['west', 'south']) await home.ks(['ingest', slug, '-s', slug, '--wait'])
})
afterAll(() => home.end())

describe('ks query over several spaces', () => {
  it('prints one answer, and citations with the space of each', async () => {
    const { code, stdout, stderr } = await home.ks(['query', QUESTION, ...BOTH])
    expect({ code, stderr }).toMatchObject({ code: 0 })
    expect(stdout).toContain('40 metres')
    expect(stdout).toContain('60 metres')
    expect(stdout).toMatch(/\[\d] west\/\S*brest\.md › Brest/)
    expect(stdout).toMatch(/\[\d] south\/\S*crest\.md › Crest/)
    expect(stderr).toContain(' · 2 of 2 spaces · ')
  })

  it('names the space in each citation of the JSON, for named spaces and for all', async () => {
    for (const spaces of [BOTH, ['--all-spaces']]) {
      const { stdout } = await home.ks(['query', QUESTION, ...spaces, '--json'])
      const { citations, metadata } = JSON.parse(stdout)
      expect(new Set(citations.map((one: SpaceCitation) => one.space))).toEqual(new Set(['west', 'south']))
      for (const { space, link } of citations) expect(link).toContain(`?space=${space}`)
      expect(metadata.omittedSpaces).toBe(0)
    }
  })

  it('reports a named space that is empty, and each trace with --trace', async () => {
    const { code, stdout, stderr } = await home.ks(['query', QUESTION, ...BOTH, '-s', 'empty', '--trace'])
    expect(code).toBe(0)
    expect(stderr).toContain('empty: the space has no searchable documents')
    for (const slug of ['west', 'south', 'empty']) expect(stdout).toContain(`\n${slug}\n`)
    expect((await home.ks(['query', QUESTION, '--all-spaces'])).stderr).not.toContain('no searchable documents')
  })

  it('rejects an unknown space, a session, and --space next to --all-spaces', async () => {
    expect(await home.ks(['query', 'x', '-s', 'west', '-s', 'sout'])).toMatchObject({
      code: 5,
      stderr: expect.stringContaining('did you mean `south`?'),
    })
    expect(await home.ks(['query', 'x', ...BOTH, '--session', 'last'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--session takes one space'),
    })
    expect((await home.ks(['query', 'x', ...BOTH, '--fresh', 'strict'])).code).toBe(2)
    expect((await home.ks(['query', 'x', '-s', 'west', '--all-spaces'])).code).toBe(2)
  })
})

describe('ks search over several spaces', () => {
  it('lists passages with their spaces', async () => {
    const { code, stdout } = await home.ks(['search', 'tower', '--all-spaces', '--json'])
    expect(code).toBe(0)
    const rows: { space: string; filename: string }[] = JSON.parse(stdout)
    expect(new Set(rows.map(({ space }) => space))).toEqual(new Set(['west', 'south']))
    const files = await home.ks(['search', 'tower', ...BOTH, '--files-with-matches'])
    expect(files.stdout).toMatch(/^(west|south)\t\S+\.md\t/)
  })
})

describe('--doc with patterns', () => {
  const filesOf = async (...args: string[]) => {
    const { code, stdout, stderr } = await home.ks(['search', 'tower', ...args, '--json'])
    expect({ code, stderr }).toMatchObject({ code: 0 })
    const rows: { filename: string }[] = JSON.parse(stdout)
    return [...new Set(rows.map(({ filename }) => filename.split('/').slice(-2).join('/')))].sort()
  }

  it('limits a question to matching documents, of one space or several', async () => {
    expect(await filesOf('-s', 'south', '--doc', 'ops/*')).toEqual(['ops/crest.md'])
    expect(await filesOf('-s', 'south', '--doc', 'ops/*', '--doc', '**/other/*')).toEqual([
      'ops/crest.md',
      'other/crest.md',
    ])
    expect(await filesOf(...BOTH, '--doc', 'ops/*')).toEqual(['ops/brest.md', 'ops/crest.md'])
    expect(await filesOf(...BOTH, '--doc', 'brest.md', '--doc', 'other/crest.md')).toEqual([
      'ops/brest.md',
      'other/crest.md',
    ])
    const { stdout } = await home.ks(['query', 'How high is the tower of Crest?', '-s', 'south', '--doc', 'other/*'])
    expect(stdout).toContain('50 metres')
  })

  it('fails for a pattern without a match, and for ids next to patterns', async () => {
    expect(await home.ks(['query', QUESTION, ...BOTH, '--doc', 'nowhere/*'])).toMatchObject({
      code: 5,
      stderr: expect.stringContaining('no document matches "nowhere/*"'),
    })
    const id = '018f0000-0000-7000-8000-000000000001'
    expect(await home.ks(['query', QUESTION, '-s', 'west', '--doc', id, '--doc', 'ops/*'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('either ids or paths'),
    })
  })
})
