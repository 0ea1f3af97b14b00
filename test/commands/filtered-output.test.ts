import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { expandAlias, splitWords } from '../../src/cli/aliases.js'
import { findPager, PagedOutput } from '../../src/cli/pager.js'
import { cliHome } from '../helpers/cli.js'

const home = cliHome()
beforeAll(async () => {
  for (const slug of ['one-space', 'two-space']) {
    const made = await home.ks(['spaces', 'create', `Space "${slug}"`, '--slug', slug])
    expect(made, made.stderr).toMatchObject({ code: 0 })
  }
})
afterAll(() => home.end())

describe('--jq and --template', () => {
  it('print their result for the JSON of a command', async () => {
    const jq = await home.ks(['spaces', '--jq', 'map(.slug) | sort | .[]'])
    expect(jq).toMatchObject({ code: 0, stdout: 'one-space\ntwo-space\n', stderr: '' })
    const lines = await home.ks(['spaces', '--format', 'jsonl', '--jq', '{slug}'])
    expect(lines.stdout.split('\n').sort()).toEqual(['', '{"slug":"one-space"}', '{"slug":"two-space"}'])
    const template = await home.ks(['spaces', '--template', '{{#.}}{{slug}}: {{name}}\\n{{/.}}'])
    expect(template.stdout.split('\n').sort()).toEqual([
      '',
      'one-space: Space "one-space"',
      'two-space: Space "two-space"',
    ])
    const fields = await home.ks(['spaces', '--fields', 'slug', '--jq', '.[0] | keys[]'])
    expect(fields.stdout).toBe('slug\n')
  })

  it('print their result for the JSON of a command that streams its output', async () => {
    home.file('ferry.md', '# Ferry\n\nIt sails at nine.\n')
    const read = await home.ks(['read', 'ferry.md', '--jq', '.title, .mediaType'])
    expect(read, read.stderr).toMatchObject({ code: 0, stdout: 'Ferry\ntext/markdown\n' })
    const answer = await home.ks(['api', 'GET', '/knowledge-spaces', '--jq', '.items | length'])
    expect(answer, answer.stderr).toMatchObject({ code: 0, stdout: '2\n' })
  })

  it('refuse incompatible flags, and keep the exit code of a failed command', async () => {
    const wrong = await home.ks(['spaces', '--jq', 'nonsense'])
    expect(wrong).toMatchObject({ code: 2, stdout: '' })
    expect(wrong.stderr).toContain('--jq: jq: error: nonsense/0 is not defined')
    expect((await home.ks(['spaces', '--template', '{{#.}}'])).stderr).toContain('--template: Unclosed section')
    expect(await home.ks(['spaces', '--jq', '.', '--template', 'x'])).toMatchObject({ code: 2 })
    expect(await home.ks(['spaces', '--jq', '.', '--format', 'tsv'])).toMatchObject({ code: 2 })
    expect(await home.ks(['completion', 'bash', '--jq', '.'])).toMatchObject({ code: 2, stdout: '' })
    expect(await home.ks(['spaces', 'show', 'no-space', '--jq', '.'])).toMatchObject({ code: 5, stdout: '' })
  })
})

describe('an alias', () => {
  it('expands to a command with arguments, appears in the help, and hides no command', async () => {
    expect(await home.ks(['alias', 'one', 'spaces show $1 --jq .slug'])).toMatchObject({ code: 0 })
    expect(await home.ks(['one', 'one-space'])).toMatchObject({ code: 0, stdout: 'one-space\n' })
    expect(await home.ks(['one', 'two-space', '--quiet'])).toMatchObject({ stdout: 'two-space\n' })
    expect((await home.ks(['one'])).stderr).toContain('the alias one needs 1 or more arguments')
    expect((await home.ks(['--help'])).stdout).toContain('Your aliases: one')
    for (const [name, line] of [
      ['query', 'spaces'],
      ['docs', 'spaces'],
      ['x', 'nothing such'],
      ['-x', 'spaces'],
      ['open', "spaces 'open"],
    ])
      expect(await home.ks(['alias', '--', name ?? '', line ?? ''])).toMatchObject({ code: 2 })
    // Nor does one that was written into the file by hand.
    const path = join(home.dir, 'config', 'aliases.json')
    home.file('config/aliases.json', JSON.stringify({ ...JSON.parse(readFileSync(path, 'utf8')), spaces: 'doctor' }))
    expect((await home.ks(['spaces', '--jq', 'length'])).stdout).toBe('2\n')
    expect(await home.ks(['alias', '--delete', 'one'])).toMatchObject({ code: 0 })
    expect(await home.ks(['one', 'one-space'])).toMatchObject({ code: 2 })
    expect(await home.ks(['alias', '--delete', 'one'])).toMatchObject({ code: 5 })
  })

  it('treats each argument as one word, whatever it contains', () => {
    expect(splitWords(`a 'b c' "d \\" e" f\\ g ''`)).toEqual(['a', 'b c', 'd " e', 'f g', ''])
    expect(expandAlias('x', 'query $1 --since $3', ['$2; rm "x', 'b', 'c', 'd'])).toEqual([
      'query',
      '$2; rm "x',
      '--since',
      'c',
      'b',
      'd',
    ])
  })
})

describe('the pager', () => {
  const stdout = (written: string[]) =>
    ({
      isTTY: true,
      rows: 10,
      columns: 20,
      write: (text: string) => written.push(text) > 0,
    }) as unknown as NodeJS.WriteStream

  it('gets only output that is longer than the screen', async () => {
    for (const [lines, isPaged] of [
      [9, false],
      [10, true],
      [3000, true],
    ] as const) {
      const written: string[] = []
      const file = join(home.dir, `paged-${lines}`)
      const out = new PagedOutput(`cat > '${file}'`, stdout(written))
      const text = Array.from({ length: lines }, (_, n) => `line ${n}\n`)
      for (const line of text) out.write(line)
      await out.end()
      if (isPaged) expect(readFileSync(file, 'utf8')).toBe(text.join(''))
      expect(written.join('')).toBe(isPaged ? '' : text.join(''))
    }
  })

  it('can quit early; if the pager cannot run, all output appears on the terminal', async () => {
    const quits = new PagedOutput('exit 0', stdout([]))
    for (let n = 0; n < 5000; n++) quits.write(`${'x'.repeat(100)}\n`)
    await quits.end()
    const written: string[] = []
    const missing = new PagedOutput('no-such-pager 2> /dev/null', stdout(written))
    for (let n = 0; n < 20; n++) missing.write('x\n')
    await missing.end()
    expect(written.join('')).toBe('x\n'.repeat(20))
  })

  it('comes from KS_PAGER, PAGER, or is less; a flag disables it', () => {
    expect(findPager({ KS_PAGER: 'more', PAGER: 'most' })).toBe('more')
    expect(findPager({ PAGER: 'most' })).toBe('most')
    expect(findPager({})).toContain('less')
    for (const env of [
      { KS_PAGER: '' },
      { PAGER: 'cat' },
      { CI: '1' },
      { TERM: 'dumb' },
      { KS_PAGER: 'cat', PAGER: 'most' },
    ])
      expect(findPager(env)).toBeUndefined()
  })
})
