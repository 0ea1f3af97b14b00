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
import { Poller } from '../../../src/cli/watch/poller.js'
import { NOTHING_PROTECTED } from '../../helpers/own-files.js'
import { until } from '../../helpers/until.js'

const EVERY_MS = 1000
/** the longest a change may take: a period, and what the machine needs */
const WITHIN_MS = 15_000
const RULES = { ignore: ['*.log'], glob: [], hidden: false, ignoreFiles: true, own: NOTHING_PROTECTED }

let folder = ''
let poller: Poller
let hints: string[] = []

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'ks-poll-'))
  hints = []
  poller = new Poller(folder, RULES, (path) => hints.push(path))
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
  everyMs: EVERY_MS,
  isSingle: true,
  scanEveryMs: 60_000,
  description: '',
  ...facts,
})

/** Polls from now on; a first round lets it see how things are. */
async function begin(facts: Partial<PollPlan> = {}): Promise<void> {
  await poller.arrange(plan(facts))
  await sleep(EVERY_MS + 500)
  hints = []
}

const hinted = (path: string) =>
  until(() => hints.includes(path), WITHIN_MS).catch(() => expect(hints, path).toContain(path))

/** inotify watches that this process holds */
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

describe('a folder that is polled', () => {
  test('tells of what is created, edited, renamed and removed', async () => {
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

  test.runIf(process.platform === 'linux')('holds no watch of the system', async () => {
    write('a.md')
    const before = inotifyWatches()
    await begin()
    expect(inotifyWatches()).toBe(before)
  })

  test('tells of a file that an older one of the same size took the place of', async () => {
    write('a.md', 'one')
    write('.old', 'two')
    utimesSync(join(folder, '.old'), 1000, 1000)
    await begin()
    renameSync(join(folder, '.old'), join(folder, 'a.md'))
    await hinted('a.md')
  })

  test('says nothing of what the rules leave out, and heeds rules that change', async () => {
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
    await sleep(EVERY_MS)
    expect(hints.filter((path) => path.startsWith('drafts') || path.endsWith('.log'))).toEqual([])
    write('.gitignore', '# nothing is left out\n')
    await hinted('.gitignore')
    expect(poller.isOutdated).toBe(true)
    await begin()
    appendFileSync(join(folder, 'drafts/d.md'), ' and more')
    await hinted('drafts/d.md')
  })

  test('polls the parts alone that it is told to', async () => {
    write('local/a.md')
    write('share/b.md')
    await begin({ roots: ['share'] })
    appendFileSync(join(folder, 'local/a.md'), ' more')
    appendFileSync(join(folder, 'share/b.md'), ' more')
    await hinted('share/b.md')
    expect(hints).not.toContain('local/a.md')
  })

  test('ends when it is told to, and when looks take over', async () => {
    write('a.md')
    await begin()
    await poller.arrange(plan({ isSingle: false }))
    appendFileSync(join(folder, 'a.md'), ' more')
    await sleep(2 * EVERY_MS)
    expect(hints).toEqual([])
  })
})
