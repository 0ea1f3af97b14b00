import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { execa } from 'execa'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { cliHome, KS, plainEnv } from '../helpers/cli.js'
import { until } from '../helpers/until.js'

const home = cliHome()
const fixture = (name: string) => fileURLToPath(new URL(`../fixtures/docs/${name}`, import.meta.url))
const NOTE = '# Ferry\n\nIt sails at nine.\n\n| day | price |\n|---|---|\n| Monday | 9 |\n\n```js\nlet a = `b`\n```\n'

beforeAll(() => {
  home.file('ferry.md', NOTE)
})
afterAll(async () => {
  // No daemon or data directory was needed.
  expect(existsSync(home.dataDir)).toBe(false)
  await home.end()
})

describe('ks read', () => {
  it('prints a file as Markdown, without a daemon', async () => {
    const { code, stdout, stderr } = await home.ks(['read', 'ferry.md'])
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toBe(
      '# Ferry\n\nIt sails at nine.\n\n| day | price |\n| --- | --- |\n| Monday | 9 |\n\n```js\nlet a = `b`\n```\n',
    )
  })

  it('prints warnings of a document to stderr', async () => {
    home.file('open.md', 'It sails at nine.\n\n<script>never shown')
    const { stdout, stderr } = await home.ks(['read', 'open.md'])
    expect(stdout).toBe('It sails at nine.\n')
    expect(stderr).toBe('open.md: a script or style sheet has no end: what follows it is not read\n')
    expect((await home.ks(['read', 'open.md', '--quiet'])).stderr).toBe('')
  })

  it('prints the complete content as JSON, a line for each file', async () => {
    const { code, stdout } = await home.ks(['read', 'ferry.md', fixture('stanley-cups.xlsx'), '--json'])
    expect(code).toBe(0)
    const [ferry, cups] = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(ferry).toMatchObject({
      filename: 'ferry.md',
      title: 'Ferry',
      mediaType: 'text/markdown',
      elements: [{ type: 'title' }, { type: 'paragraph' }, { type: 'table' }, { type: 'code' }],
      outline: [{ title: 'Ferry' }],
      items: [{ id: 'table-1' }, { id: 'code-2' }],
    })
    expect(cups.mediaType).toContain('spreadsheet')
  })

  it('prints with --as text, outline, tables, pictures, pages or Markdown', async () => {
    const as = async (form: string, ...more: string[]) => (await home.ks(['read', ...more, '--as', form])).stdout
    expect(await as('text', 'ferry.md')).toContain('day | price\nMonday | 9')
    expect(await as('outline', 'ferry.md')).toContain('Ferry')
    expect(await as('tables', 'ferry.md')).toBe('Table 1 (Ferry)\n\n| day | price |\n| --- | --- |\n| Monday | 9 |\n')
    expect(JSON.parse(await as('tables', 'ferry.md', '--json'))).toMatchObject([
      {
        headerRows: 1,
        rows: [
          ['day', 'price'],
          ['Monday', '9'],
        ],
      },
    ])
    expect(await as('pictures', fixture('contains-pictures.docx'))).toMatch(/^image-1 {2}image\/png · /)
    const pages = await as('pages', fixture('list-item-example.pdf'))
    expect(pages).toMatch(/^--- page 1 ---\n/)
    expect(await as('markdown', fixture('list-item-example.pdf'), '--page-marks')).toMatch(/^<!-- page 1 -->\n/)
    const none = await home.ks(['read', 'ferry.md', '--as', 'pictures'])
    expect([none.code, none.stdout, none.stderr]).toEqual([0, '', 'ferry.md: The document has no pictures.\n'])
  })

  it('stores nothing of stdin if a language is not installed', async () => {
    const temporary = mkdtempSync(join(tmpdir(), 'ks-none-'))
    const args = ['read', '-', '--name', 'a.md', '--ocr-languages', 'xyz']
    const refused = await home.ks(args, { stdin: NOTE, env: { TMPDIR: temporary } })
    expect(refused, refused.stderr).toMatchObject({ code: 2, stdout: '' })
    expect(readdirSync(temporary)).toEqual([])
    rmSync(temporary, { recursive: true })
  })

  it('reads bytes from stdin with a name, and leaves no copy of them', async () => {
    const stdin = readFileSync(fixture('simple.docx'))
    const temporary = mkdtempSync(join(tmpdir(), 'ks-read-test-'))
    const { code, stdout } = await home.ks(['read', '-', '--name', 'a.docx', '--as', 'text'], {
      stdin,
      env: { TMPDIR: temporary },
    })
    expect([code, stdout.length > 20]).toEqual([0, true])
    expect(readdirSync(temporary)).toEqual([])
    rmSync(temporary, { recursive: true })
    expect((await home.ks(['read', '-'])).stderr).toContain('needs a name')
  })

  it('writes a file for each input into a folder, with pictures that the Markdown links', async () => {
    const { code, stdout } = await home.ks(['read', 'ferry.md', fixture('contains-pictures.docx'), '--out', 'out'])
    expect([code, stdout]).toEqual([0, ''])
    const out = join(home.dir, 'out')
    const markdown = readFileSync(join(out, 'contains-pictures.docx.md'), 'utf8')
    const named = [...markdown.matchAll(/!\[[^\]]*\]\(<([^>]+)>\)/g)].map(([, place = '']) => place)
    expect(named.length).toBeGreaterThan(0)
    for (const place of named) expect(readFileSync(join(out, place)).subarray(1, 4).toString()).toBe('PNG')
    expect(readFileSync(join(out, 'ferry.md.md'), 'utf8')).toContain('# Ferry')
  })

  it('follows no link at the path of a picture', async () => {
    const mine = home.file('mine.txt', 'untouched')
    home.file('out2/contains-pictures.docx.pictures/.keep', '')
    symlinkSync(mine, join(home.dir, 'out2/contains-pictures.docx.pictures/image-1.png'))
    await home.ks(['read', fixture('contains-pictures.docx'), '--out', 'out2'])
    expect(readFileSync(mine, 'utf8')).toBe('untouched')
  })

  it('explains for a recording how a space reads it', async () => {
    home.file('talk.mp3', 'ID3\u0003\0\0\0\0\0!'.padEnd(2000, '\0'))
    const { stderr } = await home.ks(['read', 'talk.mp3'])
    expect(stderr).toContain('talk.mp3 is a recording, which `ks read` does not transcribe')
    expect(stderr).toContain('defaultTranscription')
    expect(stderr).toContain('`ks ingest` transcribes the file in a space')
  })

  it('refuses URLs, folders and missing files with a hint, and reports why a file cannot be read', async () => {
    const refused = async (...args: string[]) => {
      const { code, stderr, stdout } = await home.ks(['read', ...args])
      return [code, stderr, stdout]
    }
    expect(await refused('https://example.com/a.pdf')).toEqual([
      2,
      expect.stringContaining('curl -sL https://example.com/a.pdf | ks read -'),
      '',
    ])
    home.file('folder/a.md', '# A\n')
    expect(await refused('folder')).toEqual([2, expect.stringContaining('`ks ingest` takes folders'), ''])
    expect(await refused('nowhere.md')).toEqual([2, expect.stringContaining('no file "nowhere.md"'), ''])
    expect(await refused('ferry.md', '--name', 'x.md')).toEqual([2, expect.stringContaining('--name'), ''])
    expect(await refused(fixture('password.pdf'))).toEqual([1, 'ks: password.pdf is protected by a password\n', ''])
    const [code, error] = await refused(fixture('password.pdf'), '--json')
    expect([code, JSON.parse(String(error)).error.code]).toEqual([1, 'encrypted'])
    expect(await refused('ferry.md', fixture('password.pdf'), '--as', 'text')).toEqual([
      3,
      expect.stringContaining('1 of 2 files could not be read'),
      expect.stringContaining('It sails'),
    ])
    expect(await refused('folder/a.md', 'ferry.md', join(home.dir, 'ferry.md'), '--out', 'o')).toEqual([
      2,
      expect.stringContaining('"ferry.md"'),
      '',
    ])
  })

  it('ends its child process at Ctrl-C and SIGTERM', { timeout: 120_000 }, async () => {
    for (const [signal, exit] of [
      ['SIGINT', 130],
      ['SIGTERM', 143],
    ] as const) {
      const path = home.file('ks-fault-hang.md', '# A\n')
      const env = { ...plainEnv(), ...home.env, KS_FAULT: 'parse' }
      const running = execa(process.execPath, [KS, 'read', path], {
        env,
        extendEnv: false,
        reject: false,
        cwd: home.dir,
      })
      await until(() => readersOf(running.pid).length === 1)
      const [reader = 0] = readersOf(running.pid)
      running.kill(signal)
      expect((await running).exitCode).toBe(exit)
      await until(() => !existsSync(`/proc/${reader}`))
    }
  })

  it('writes a large document into a closed pipe without an error', async () => {
    writeFileSync(join(home.dir, 'large.txt'), 'Many words of a long text.\n\n'.repeat(100_000))
    // Quiet: on a busy machine it takes more than ten seconds and would report progress.
    const script = `'${process.execPath}' '${KS}' read --quiet large.txt | head -1`
    const { stdout, stderr } = await execa('sh', ['-c', script], {
      env: { ...plainEnv(), ...home.env },
      extendEnv: false,
      cwd: home.dir,
    })
    expect([stdout, stderr]).toEqual(['Many words of a long text.', ''])
  })
})

/** Child processes that read documents. */
function readersOf(pid: number | undefined): number[] {
  try {
    const pids = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean)
    return pids.map(Number).filter((one) => readFileSync(`/proc/${one}/cmdline`, 'utf8').includes('readers/child.js'))
  } catch {
    return []
  }
}
