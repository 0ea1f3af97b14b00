import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import {
  appendFileSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { execa } from 'execa'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { type CliHome, cliHome, KS, plainEnv } from '../helpers/cli.js'
import { until } from '../helpers/until.js'

let home: CliHome
let folder = ''
const children: ChildProcess[] = []

beforeAll(async () => {
  home = cliHome()
  expect((await home.ks(['spaces', 'create', 'Notes', '--slug', 'notes'])).code).toBe(0)
})
afterAll(() => home.end())
afterEach(async () => {
  for (const child of children.splice(0)) if (child.exitCode === null) child.kill('SIGKILL')
})

test('watch add --create makes the space, named after the folder, and watches it', async () => {
  newFolder({ 'a.md': '# A' })
  const added = await home.ks(['watch', 'add', folder, '--create', '--json'])
  expect([added.code, JSON.parse(added.stdout).folder], added.stderr).toEqual([0, folder])
  expect(added.stderr).toContain('created space notes-1')
  expect((await home.ks(['spaces', '--fields', 'slug'])).stdout).toContain('notes-1\n')
  const refused = await home.ks(['watch', 'add', newFolder(), '--space', 'absent'])
  expect(refused.code).toBe(5)
})

let number = 0
/** A new folder `notes-N` with files. */
function newFolder(files: Record<string, string> = {}): string {
  folder = join(home.dir, `notes-${++number}`)
  mkdirSync(folder)
  for (const [name, text] of Object.entries(files)) write(name, text)
  return folder
}

function write(name: string, text: string): void {
  const path = join(folder, name)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}

interface Watching {
  child: ChildProcess
  events: { event: string; data: Record<string, unknown> }[]
  stderr: () => string
  seen: (event: string, data: Record<string, unknown>) => Promise<void>
  end: (signal: NodeJS.Signals) => Promise<number | NodeJS.Signals>
}

/** `ks watch` in the foreground, after its first scan. */
async function watchHere(args: string[] = []): Promise<Watching> {
  const child = execa(process.execPath, [KS, 'watch', folder, '--space', 'notes', '--format', 'jsonl', ...args], {
    cwd: home.dir,
    env: { ...plainEnv(), ...home.env },
    stdio: ['ignore', 'pipe', 'pipe'],
    buffer: false,
    reject: false,
    extendEnv: false,
  })
  children.push(child)
  const events: Watching['events'] = []
  createInterface({ input: child.stdout! }).on('line', (line) => events.push(JSON.parse(line)))
  let stderr = ''
  child.stderr!.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  const exit = once(child, 'exit')
  const watching: Watching = {
    child,
    events,
    stderr: () => stderr,
    seen: (event, data) =>
      until(async () =>
        events.some(
          (one) =>
            one.event === event &&
            Object.entries(data).every(([key, value]) =>
              value instanceof RegExp ? value.test(String(one.data[key])) : one.data[key] === value,
            ),
        ),
      ),
    end: async (signal) => {
      child.kill(signal)
      const [code, by] = await exit
      return by ?? code
    },
  }
  await Promise.race([
    watching.seen('watch.state', { state: 'watching' }),
    exit.then(([code]) => Promise.reject(new Error(`ks watch ended with ${code}: ${stderr}`))),
  ])
  return watching
}

/** Names of the live documents, relative to the folder; a test that watches the home folder names later ones below it. */
async function names(): Promise<string[]> {
  const { stdout } = await home.ks(['docs', '--space', 'notes', '--all', '--json'])
  const all: { filename: string }[] = JSON.parse(stdout)
  return all.flatMap(({ filename }) => `/${filename}`.split(`/${basename(folder)}/`)[1] ?? []).sort()
}

async function untilNames(wanted: string[]): Promise<void> {
  let last: string[] = []
  await until(async () => {
    last = await names()
    return JSON.stringify(last) === JSON.stringify([...wanted].sort())
  }).catch(() => expect(last).toEqual([...wanted].sort()))
}

async function holds(word: string): Promise<boolean> {
  const { stdout } = await home.ks(['fs', 'grep', word, '/sources', '--space', 'notes'])
  return stdout.includes(word)
}

describe('a watch in the foreground', () => {
  test('uploads created, edited and renamed files, and deletes the documents of deleted files', async () => {
    newFolder({ 'a.md': '# Alpha\n\nalpaca', 'sub/b.md': '# B\n\nbadger' })
    const watching = await watchHere()
    await untilNames(['a.md', 'sub/b.md'])
    write('deep/er/c.md', '# C\n\ncaribou')
    write('a.md', '# Alpha\n\nantelope')
    renameSync(join(folder, 'sub'), join(folder, 'moved'))
    await untilNames(['a.md', 'moved/b.md', 'deep/er/c.md'])
    await until(() => holds('antelope'))
    expect(await holds('alpaca')).toBe(false)
    rmSync(join(folder, 'deep'), { recursive: true })
    write('moved/d.md', '# D\n\ndingo')
    await untilNames(['a.md', 'moved/b.md', 'moved/d.md'])
    expect(await watching.end('SIGINT')).toBe(130)
    expect(watching.stderr()).toContain('stopped watching')
    expect(await names()).toEqual(['a.md', 'moved/b.md', 'moved/d.md'])
  })

  test('keeps one document of a file, in whatever way editors save the file', async () => {
    newFolder({ 'note.md': '# Note\n\nfirst' })
    const watching = await watchHere()
    await watching.seen('watch.file', { status: 'published' })
    // vim: a probe, a backup, the new file.
    write('4913', '')
    rmSync(join(folder, '4913'))
    renameSync(join(folder, 'note.md'), join(folder, 'note.md~'))
    await sleep(50)
    write('note.md', '# Note\n\nsecondly')
    rmSync(join(folder, 'note.md~'))
    await watching.seen('watch.file', { status: 'changed' })
    // A new file replaces the old one.
    write('.note.md.tmp', '# Note\n\nthirdly')
    renameSync(join(folder, '.note.md.tmp'), join(folder, 'note.md'))
    await until(() => holds('thirdly'))
    expect(await names()).toEqual(['note.md'])
    expect(watching.events.some(({ data }) => data.status === 'removed')).toBe(false)
  })

  test('waits for a file that is still being written', async () => {
    newFolder()
    const watching = await watchHere()
    write('slow.md', '# Slow\n\n')
    for (let part = 0; part < 20; part++) {
      appendFileSync(join(folder, 'slow.md'), `part ${part}\n\n`)
      await sleep(50)
    }
    await watching.seen('watch.file', { status: 'published' })
    const sent = watching.events.filter(({ data }) => data.status === 'added' || data.status === 'changed')
    expect(sent).toHaveLength(1)
    expect(await holds('part 19')).toBe(true)
  })

  test('follows ignore files and their changes, and follows no link out of the folder', async () => {
    newFolder({
      '.ksignore': 'drafts/\n',
      'drafts/x.md': '# Xylem',
      'y.md': '# Yarn',
      '.hidden.md': '# Hay',
      'z.log': 'log',
    })
    symlinkSync('/etc/hostname', join(folder, 'out.txt'))
    symlinkSync('y.md', join(folder, 'in.md'))
    const watching = await watchHere(['--ignore', '*.log'])
    await untilNames(['in.md', 'y.md'])
    expect(watching.stderr()).toContain('out.txt: a symbolic link to outside of the folder')
    write('.ksignore', 'y.md\n')
    await untilNames(['drafts/x.md', 'in.md'])
  })

  test('excludes a second watch of the same folder', async () => {
    newFolder({ 'a.md': '# Alpha' })
    await watchHere()
    const second = await home.ks(['watch', folder, '--space', 'notes'])
    expect(second).toMatchObject({ code: 6 })
    expect(second.stderr).toContain(`another process watches ${folder}`)
  })
})

describe('a watched folder whose disk is missing', () => {
  test('causes no deletion, and its watch continues when the disk is back', async () => {
    newFolder({ 'a.md': '# Alpha', 'b.md': '# Beta' })
    const watching = await watchHere()
    await untilNames(['a.md', 'b.md'])
    renameSync(folder, `${folder}.away`)
    await watching.seen('watch.state', { state: 'folder-missing' })
    // A mount point without its disk: a new, empty folder.
    mkdirSync(folder)
    await watching.seen('watch.state', { state: 'withheld' })
    expect(await names()).toEqual(['a.md', 'b.md'])
    rmSync(folder, { recursive: true })
    renameSync(`${folder}.away`, folder)
    await until(async () => watching.events.filter(({ data }) => data.state === 'watching').length > 1)
    rmSync(join(folder, 'a.md'))
    await untilNames(['b.md'])
  })

  test('needs --accept-missing to confirm that its files are deleted', async () => {
    newFolder({ 'a.md': '# Alpha', 'b.md': '# Beta' })
    await home.ks(['watch', folder, '--space', 'notes', '--once'])
    rmSync(folder, { recursive: true })
    mkdirSync(folder)
    const withheld = await home.ks(['watch', folder, '--space', 'notes', '--once'])
    expect(withheld).toMatchObject({ code: 3 })
    expect(withheld.stderr).toContain('2 missing files not treated as deleted')
    expect(await names()).toEqual(['a.md', 'b.md'])
    expect((await home.ks(['watch', folder, '--space', 'notes', '--once', '--accept-missing'])).code).toBe(0)
    expect(await names()).toEqual([])
  })
})

describe('ks watch --once', () => {
  test('starts from an earlier ingest of the folder, and applies all changes since then', async () => {
    newFolder({ 'a.md': '# Alpha', 'b.md': '# Beta', 'c.md': '# Gamma' })
    expect((await home.ks(['ingest', folder, '--space', 'notes', '--wait'])).code).toBe(0)
    rmSync(join(folder, 'a.md'))
    write('b.md', '# B\n\nbuffalo')
    renameSync(join(folder, 'c.md'), join(folder, 'd.md'))
    const first = await home.ks(['watch', folder, '--space', 'notes', '--once'])
    expect(first).toMatchObject({ code: 0 })
    expect(first.stdout.split('\n').sort().join(' ')).toMatch(
      /added.*d\.md.*changed.*b\.md.*removed.*a\.md.*removed.*c\.md/,
    )
    await until(() => holds('buffalo'))
    expect(await names()).toEqual(['b.md', 'd.md'])
    const second = await home.ks(['watch', folder, '--space', 'notes', '--once'])
    expect(second).toMatchObject({ code: 0, stdout: '' })
    expect(second.stderr).toContain('nothing changed')
  })

  test('keeps the documents of deleted files with --on-delete keep', async () => {
    newFolder({ 'a.md': '# Alpha', 'b.md': '# Beta' })
    await home.ks(['watch', folder, '--space', 'notes', '--once'])
    rmSync(join(folder, 'a.md'))
    await home.ks(['watch', folder, '--space', 'notes', '--once', '--on-delete', 'keep'])
    expect(await names()).toEqual(['a.md', 'b.md'])
  })

  test('F54: refuses a path that is no folder, and the data directory', async () => {
    newFolder({ 'a.md': '# Alpha' })
    for (const [path, sentence] of [
      [join(folder, 'a.md'), 'is not a folder'],
      [join(folder, 'none'), 'does not exist'],
      [join(home.dataDir, 'objects'), 'is protected'],
    ] as const) {
      const refused = await home.ks(['watch', path, '--space', 'notes', '--once'])
      expect(refused).toMatchObject({ code: 2 })
      expect(refused.stderr).toContain(sentence)
    }
  })

  test('excludes the data directory below the folder', async () => {
    folder = home.dir
    const run = await home.ks(['watch', home.dir, '--space', 'notes', '--once', '--glob', '*.json', '--hidden'])
    expect(run.stdout).not.toContain('daemon.json')
    expect(run.code).toBe(0)
  })
})

test('ks watch --url watches a folder for a remote service, and keeps the file list on this machine', async () => {
  newFolder({ 'a.md': '# Alpha', 'b.md': '# Beta' })
  const { url } = JSON.parse(readFileSync(join(home.dataDir, 'daemon.json'), 'utf8'))
  const env = { KS_TOKEN_FILE: join(home.dataDir, 'cli.token') }
  const once = ['watch', folder, '--space', 'notes', '--url', url, '--once']
  const first = await home.ks(once, { env })
  expect(first).toMatchObject({ code: 0, stdout: expect.stringContaining('added') })
  rmSync(join(folder, 'a.md'))
  renameSync(join(folder, 'b.md'), join(folder, 'c.md'))
  expect((await home.ks(once, { env })).code).toBe(0)
  await untilNames(['c.md'])
  const nothing = await home.ks(once, { env })
  expect(nothing).toMatchObject({ code: 0, stdout: '' })
  const { stdout } = await home.ks(['api', 'GET', `/knowledge-spaces/${await spaceId()}/local-files?root=${folder}`])
  expect(JSON.parse(stdout)).toEqual({ items: [] })
})

async function spaceId(): Promise<string> {
  const { stdout } = await home.ks(['spaces', 'show', 'notes', '--json'])
  return JSON.parse(stdout).id
}

describe('a watch of the daemon', () => {
  const state = async () => {
    const { stdout } = await home.ks(['watch', '--json'])
    const all: { folder: string; state: string; files?: number }[] = JSON.parse(stdout)
    return all.find((watch) => watch.folder === folder)
  }

  test('follows its folder until the watch is stopped', async () => {
    newFolder({ 'a.md': '# Alpha' })
    expect((await home.ks(['watch', 'add', folder, '--space', 'notes'])).code).toBe(0)
    await untilNames(['a.md'])
    write('b.md', '# Beta')
    await untilNames(['a.md', 'b.md'])
    expect(await state()).toMatchObject({ state: 'watching', files: 2 })
    const overlap = await home.ks(['watch', 'add', join(folder, '..'), '--space', 'notes'])
    expect(overlap).toMatchObject({ code: 2 })
    expect(overlap.stderr).toContain('overlaps')
    const here = await home.ks(['watch', folder, '--space', 'notes'])
    expect(here).toMatchObject({ code: 6 })
    expect((await home.ks(['watch', 'stop', folder])).code).toBe(0)
    expect(await state()).toBeUndefined()
    write('c.md', '# Gamma')
    // A removed watch uploads nothing meanwhile.
    await sleep(800)
    expect(await names()).toEqual(['a.md', 'b.md'])
  })

  test('continues after a restart of the daemon', async () => {
    newFolder({ 'a.md': '# Alpha', 'b.md': '# Beta' })
    await home.ks(['watch', 'add', folder, '--space', 'notes'])
    await untilNames(['a.md', 'b.md'])
    expect((await home.ks(['daemon', 'stop'])).code).toBe(0)
    rmSync(join(folder, 'a.md'))
    write('c.md', '# Gamma')
    await untilNames(['b.md', 'c.md'])
    await home.ks(['watch', 'remove', folder])
  })

  test('runs in a process that is restarted when it dies', async () => {
    newFolder({ 'a.md': '# Alpha' })
    await home.ks(['watch', 'add', folder, '--space', 'notes'])
    await untilNames(['a.md'])
    const { pid } = JSON.parse(readFileSync(join(home.dataDir, 'daemon.json'), 'utf8'))
    const watcher = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
      .trim()
      .split(' ')
      .find((child) => readFileSync(`/proc/${child}/cmdline`, 'utf8').includes('watch/child.js'))
    process.kill(Number(watcher), 'SIGKILL')
    write('b.md', '# Beta')
    await untilNames(['a.md', 'b.md'])
    await home.ks(['watch', 'remove', folder])
  })

  test('cannot be added to a remote service', async () => {
    newFolder({ 'a.md': '# Alpha' })
    const refused = await home.ks(['watch', 'add', folder, '--url', 'https://example.com', '--space', 'notes'])
    expect(refused).toMatchObject({ code: 2 })
    expect(refused.stderr).toContain('cannot watch folders of this machine')
  })
})

test('ks watch reports a file above the upload limit, and uploads smaller files', async () => {
  newFolder({ 'a.md': '# A\nfirst words\n', 'sparse.md': '' })
  truncateSync(join(folder, 'sparse.md'), 2 ** 40)
  const watching = await watchHere()
  await watching.seen('watch.file', { filename: new RegExp(`(^|/)notes-${number}/sparse\\.md$`), status: 'failed' })
  await watching.seen('watch.file', { filename: new RegExp(`(^|/)notes-${number}/a\\.md$`), status: 'published' })
})
