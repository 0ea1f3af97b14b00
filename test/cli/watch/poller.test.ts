import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { removeFolder } from '../../../bench/lib/removed-folder.js'
import type { PollPlan } from '../../../src/cli/watch/poll-plan.js'
import { FolderPoller } from '../../../src/cli/watch/poller.js'
import { NOTHING_PROTECTED } from '../../helpers/own-files.js'
import { until } from '../../helpers/until.js'

const EVERY_MS = 1000
/** maximal delay of a change: an interval, and the time that the machine needs */
const WITHIN_MS = 15_000
const RULES = { ignore: ['*.log'], glob: [], hidden: false, ignoreFiles: true, protectedFiles: NOTHING_PROTECTED }

let folder = ''
let poller: FolderPoller
let hints: string[] = []

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'ks-poll-'))
  hints = []
  poller = new FolderPoller(folder, RULES, (path) => hints.push(path))
})
afterEach(() => {
  poller.close()
  removeFolder(folder)
})

function write(path: string, text = path): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true })
  writeFileSync(join(folder, path), text)
}

const plan = (facts: Partial<PollPlan> = {}): PollPlan => ({
  roots: [''],
  intervalMs: EVERY_MS,
  isPolledByPath: true,
  scanIntervalMs: 60_000,
  description: '',
  ...facts,
})

/** Starts polling; a first round records the state. */
async function begin(facts: Partial<PollPlan> = {}): Promise<void> {
  await poller.arrange(plan(facts))
  await sleep(EVERY_MS + 500)
  hints = []
}

const hinted = (path: string) =>
  until(() => hints.includes(path), WITHIN_MS).catch(() => expect(hints, path).toContain(path))

/** inotify watches of this process */
function inotifyWatches(): number {
  const files = readdirSync('/proc/self/fdinfo').flatMap((fd) => {
    try {
      return readFileSync(`/proc/self/fdinfo/${fd}`, 'utf8').split('\n')
    } catch {
      return [] // closed meanwhile
    }
  })
  return files.filter((line) => line.startsWith('inotify wd')).length
}

describe('the poller of a folder', () => {
  test('reports created, edited, renamed and removed files', async () => {
    write('a.md')
    write('sub/b.md')
    await begin()
    write('c.md')
    await hinted('c.md')
    appendFileSync(join(folder, 'a.md'), ' and more')
    await hinted('a.md')
    renameSync(join(folder, 'sub'), join(folder, 'moved'))
    await hinted('sub/b.md')
    await hinted('moved/b.md')
    rmSync(join(folder, 'c.md'))
    hints = []
    await hinted('c.md')
  })

  test.runIf(process.platform === 'linux')('uses no file system watch', async () => {
    write('a.md')
    const before = inotifyWatches()
    await begin()
    expect(inotifyWatches()).toBe(before)
  })

  test('reports a file that was replaced by an older file of the same size', async () => {
    write('a.md', 'one')
    write('.old', 'two')
    utimesSync(join(folder, '.old'), 1000, 1000)
    await begin()
    renameSync(join(folder, '.old'), join(folder, 'a.md'))
    await hinted('a.md')
  })

  test('ignores excluded files, and follows changed rules', async () => {
    write('.gitignore', 'drafts/\n')
    write('drafts/d.md')
    write('noise.log')
    write('a.md')
    await begin()
    appendFileSync(join(folder, 'drafts/d.md'), ' more')
    appendFileSync(join(folder, 'noise.log'), ' more')
    write('drafts/new.md')
    appendFileSync(join(folder, 'a.md'), ' more')
    await hinted('a.md')
    // Another round reports nothing excluded.
    await sleep(EVERY_MS)
    expect(hints.filter((path) => path.startsWith('drafts') || path.endsWith('.log'))).toEqual([])
    write('.gitignore', '# nothing is left out\n')
    await hinted('.gitignore')
    expect(poller.isOutdated).toBe(true)
    await begin()
    appendFileSync(join(folder, 'drafts/d.md'), ' and more')
    await hinted('drafts/d.md')
  })

  test('polls only the given subfolders', async () => {
    write('local/a.md')
    write('share/b.md')
    await begin({ roots: ['share'] })
    appendFileSync(join(folder, 'local/a.md'), ' more')
    appendFileSync(join(folder, 'share/b.md'), ' more')
    await hinted('share/b.md')
    expect(hints).not.toContain('local/a.md')
  })

  test('stops if the folder has too many files to be checked individually', async () => {
    write('a.md')
    await begin()
    await poller.arrange(plan({ isPolledByPath: false }))
    appendFileSync(join(folder, 'a.md'), ' more')
    // No round begins meanwhile.
    await sleep(2 * EVERY_MS)
    expect(hints).toEqual([])
  })
})
