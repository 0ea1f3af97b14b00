import { appendFileSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { execa } from 'execa'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type CliHome, cliHome, KS, plainEnv } from '../helpers/cli.js'
import { mountSilentDisk } from '../helpers/silent-disk.js'
import { until } from '../helpers/until.js'

const WITHIN_MS = 30_000

let home: CliHome

beforeAll(async () => {
  home = cliHome()
  expect((await home.ks(['spaces', 'create', 'Notes', '--slug', 'notes'])).code).toBe(0)
})
afterAll(() => home.end())

function newFolder(name: string, files: Record<string, string>): string {
  for (const [path, text] of Object.entries(files)) write(join(home.dir, name, path), text)
  return join(home.dir, name)
}

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}

/** Waits until the live documents of a folder have these names. */
async function untilNames(folder: string, wanted: string[]): Promise<void> {
  const prefix = `${folder.split('/').at(-1)}/`
  let last: string[] = []
  await until(async () => {
    const { stdout } = await home.ks(['docs', '--space', 'notes', '--all', '--json'])
    const all: { filename: string }[] = JSON.parse(stdout)
    last = all.map(({ filename }) => filename).filter((name) => name.startsWith(prefix))
    last = last.map((name) => name.slice(prefix.length)).sort()
    return JSON.stringify(last) === JSON.stringify(wanted)
  }, WITHIN_MS).catch(() => expect(last).toEqual(wanted))
}

async function untilHeld(word: string): Promise<void> {
  await until(
    async () => (await home.ks(['fs', 'grep', word, '/sources', '--space', 'notes'])).stdout.includes(word),
    WITHIN_MS,
  )
}

function inotifyWatches(pid: number): number {
  const text = readdirSync(`/proc/${pid}/fdinfo`).map((fd) => readFileSync(`/proc/${pid}/fdinfo/${fd}`, 'utf8'))
  return text.join('\n').split('\ninotify wd').length - 1
}

interface Watching {
  child: { pid?: number; kill(signal: NodeJS.Signals): boolean }
  /** output of its first scan */
  state: Record<string, unknown>
  exit: () => Promise<number | undefined>
}

/** `ks watch` in the foreground, after its first scan. */
async function watchHere(folder: string, options: string[], during: (watching: Watching) => Promise<void>) {
  const args = ['watch', folder, '--space', 'notes', '--format', 'jsonl', ...options]
  const child = execa(process.execPath, [KS, ...args], {
    cwd: home.dir,
    env: { ...plainEnv(), ...home.env },
    extendEnv: false,
    stdin: 'ignore',
    buffer: false,
    reject: false,
  })
  try {
    const events: { data: Record<string, unknown> }[] = []
    createInterface({ input: child.stdout }).on('line', (line) => events.push(JSON.parse(line)))
    const watching = () => events.find(({ data }) => data.state === 'watching')?.data
    await until(() => watching() !== undefined, WITHIN_MS)
    await during({ child, state: watching() ?? {}, exit: async () => (await child).exitCode })
  } finally {
    child.kill('SIGKILL')
    await child
  }
}

test('`ks watch --poll` follows a folder without system events, and prints the interval', async () => {
  const folder = newFolder('here', { 'a.md': '# Alpha\n\nalpaca', 'sub/b.md': '# B\n\nbadger', 'noise.log': 'x' })
  await watchHere(folder, ['--poll', '1s', '--ignore', '*.log'], async ({ child, state, exit }) => {
    expect(state).toMatchObject({ polledEveryMs: 1000, detail: 'polled every 1 s' })
    await untilNames(folder, ['a.md', 'sub/b.md'])
    if (process.platform === 'linux') expect(inotifyWatches(child.pid ?? 0)).toBe(0)
    write(join(folder, 'deep/er/c.md'), '# C\n\ncaribou')
    appendFileSync(join(folder, 'a.md'), '\n\nantelope')
    await untilNames(folder, ['a.md', 'deep/er/c.md', 'sub/b.md'])
    await untilHeld('antelope')
    renameSync(join(folder, 'sub'), join(folder, 'moved'))
    await untilNames(folder, ['a.md', 'deep/er/c.md', 'moved/b.md'])
    rmSync(join(folder, 'deep'), { recursive: true })
    await untilNames(folder, ['a.md', 'moved/b.md'])
    child.kill('SIGINT')
    expect(await exit()).toBe(130)
  })
})

test('ks watch polls a disk without change events below its folder, and uses events for the rest of the folder', async (context) => {
  const folder = newFolder('mixed', { 'local.md': '# Local' })
  const disk = mountSilentDisk(join(folder, 'share'))
  if (typeof disk === 'string') {
    process.stdout.write(`SKIPPED: no silent disk can be mounted here: ${disk}\n`)
    return context.skip()
  }
  try {
    disk.set('a.md', '# Alpha')
    disk.set('sub/b.md', '# Beta')
    await watchHere(folder, [], async ({ child, state }) => {
      const detail = 'polled every 2 s in share, since FUSE (elsewhere) reports no changes'
      expect(state).toMatchObject({ polledEveryMs: 2000, detail })
      await untilNames(folder, ['local.md', 'share/a.md', 'share/sub/b.md'])
      expect(inotifyWatches(child.pid ?? 0)).toBeGreaterThan(0)
      disk.set('c.md', '# Gamma')
      disk.set('a.md', '# Alpha\n\nalbatross')
      await untilNames(folder, ['local.md', 'share/a.md', 'share/c.md', 'share/sub/b.md'])
      await untilHeld('albatross')
      disk.set('sub/b.md', undefined)
      write(join(folder, 'more.md'), '# More')
      await untilNames(folder, ['local.md', 'more.md', 'share/a.md', 'share/c.md'])
    })
  } finally {
    disk.unmount()
  }
})

test('ks watch add --poll makes the daemon poll a folder, report the interval, and continue after a restart', async () => {
  const folder = newFolder('kept', { 'a.md': '# Alpha' })
  expect((await home.ks(['watch', 'add', folder, '--space', 'notes', '--poll', '1s'])).code).toBe(0)
  await untilNames(folder, ['a.md'])
  const kept = async () => {
    const { stdout } = await home.ks(['watch', '--json'])
    const all: { folder: string; state: string; pollMs?: number; polledEveryMs?: number }[] = JSON.parse(stdout)
    return all.find((watch) => watch.folder === folder)
  }
  await until(async () => (await kept())?.polledEveryMs === 1000, WITHIN_MS)
  expect(await kept()).toMatchObject({ state: 'watching', pollMs: 1000 })
  const shown = await home.ks(['watch'])
  expect(shown.stdout + shown.stderr).toContain(`${folder}: polled every 1 s`)
  write(join(folder, 'b.md'), '# Beta')
  await untilNames(folder, ['a.md', 'b.md'])
  expect((await home.ks(['daemon', 'restart'])).code).toBe(0)
  await until(async () => (await kept())?.polledEveryMs === 1000, WITHIN_MS)
  rmSync(join(folder, 'a.md'))
  await untilNames(folder, ['b.md'])
  // Without the option the same folder is watched by events again.
  expect((await home.ks(['watch', 'add', folder, '--space', 'notes'])).code).toBe(0)
  await until(async () => {
    const watch = await kept()
    return watch?.state === 'watching' && watch.polledEveryMs === undefined
  }, WITHIN_MS)
  await home.ks(['watch', 'remove', folder])
})

test('ks watch refuses a polling interval that is too short, too long or malformed', async () => {
  const folder = newFolder('refused', { 'a.md': '# Alpha' })
  for (const pace of ['10ms', '2h', 'often']) {
    const { code, stderr } = await home.ks(['watch', folder, '--space', 'notes', '--once', '--poll', pace])
    expect(code, pace).toBe(2)
    expect(stderr).toContain('--poll must be')
  }
})
