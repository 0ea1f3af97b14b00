import { closeSync, existsSync, openSync, readFileSync, realpathSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { execaSync } from 'execa'
import { temporaryFolder } from '../../../bench/lib/daemon.js'

/**
 * Calls of the C library that a rule can affect. `open` creates or truncates a file; `change` is any call but `read`.
 */
type Operation =
  | 'read'
  | 'write'
  | 'open'
  | 'truncate'
  | 'fsync'
  | 'rename'
  | 'link'
  | 'unlink'
  | 'mkdir'
  | 'rmdir'
  | 'change'

type Effect =
  /** the call fails without an effect */
  | 'ENOSPC'
  | 'EIO'
  | 'EDQUOT'
  | 'EROFS'
  | 'EINTR'
  | 'EFBIG'
  | 'EACCES'
  | 'EMFILE'
  /** only half of the bytes are written or read */
  | 'short'
  /** SIGKILL before the call, or after it */
  | 'kill'
  | 'kill-after'
  /** SIGSTOP before the call: the process pauses until it gets SIGCONT */
  | 'stop'
  | `delay=${number}`
  /** only a line in `hits` */
  | 'note'

export interface Rule {
  on: Operation
  effect: Effect
  /** calls that pass first; none if absent */
  skip?: number
  /** number of affected calls after that; all if absent */
  count?: number
  /** a part of the affected paths; all below the data directory if absent. Of a rename the new name counts */
  path?: string
}

/** A shim between a program and its disk and clock. */
export interface FaultShim {
  /** environment of the program */
  env: Record<string, string>
  /** Replaces the rules, at once and also for a running program. Counting restarts in each process. */
  setRules(...rules: Rule[]): void
  /** what happened, a line each: operation, effect, path */
  hits(): string[]
  /** the journal of changes; see `journal.ts` */
  journal: string
  /** Moves the wall clock of the program. */
  setAhead(milliseconds: number): void
  remove(): void
}

const RULES_BYTES = 4096
const ENDLESS = 2 ** 40

const folder = temporaryFolder('fault-shim')
const library = join(folder.path, 'shim.so')
process.once('exit', () => folder.remove())

/** The reason why no shim can be used on this machine, which is printed; else undefined. */
export const shimTrouble: string | undefined = compile() ?? probe()
if (shimTrouble !== undefined) process.stdout.write(`SKIPPED faults of disk and clock: ${shimTrouble}\n`)

function compile(): string | undefined {
  if (process.platform !== 'linux') return `the system is ${process.platform}`
  const sources = ['shim.c', 'clock.c'].map((name) => join(import.meta.dirname, name))
  const flags = ['-std=gnu11', '-O2', '-shared', '-fPIC', '-o', library]
  const { failed, shortMessage, stderr } = execaSync('gcc', [...flags, ...sources, '-ldl', '-lpthread'], {
    reject: false,
  })
  return failed ? `gcc: ${(stderr || shortMessage)?.slice(0, 300)}` : undefined
}

/** Whether a preloaded library is allowed, and intercepts the calls of Node. */
function probe(): string | undefined {
  const dir = temporaryFolder('fault-probe')
  const shim = faultShim(dir.path, { clock: true })
  shim.setRules({ on: 'fsync', effect: 'EIO' })
  shim.setAhead(24 * 3_600_000)
  const code = `const fs = require('node:fs'); const fd = fs.openSync(${JSON.stringify(join(dir.path, 'f'))}, 'w')
    try { fs.fsyncSync(fd); console.log('synced') } catch (error) { console.log(error.code, Date.now() > ${Date.now()} + 36e5) }`
  const { stdout } = execaSync(process.execPath, ['-e', code], { env: shim.env, reject: false, extendEnv: false })
  dir.remove()
  shim.remove()
  return stdout === 'EIO true' ? undefined : `a preloaded library has no effect: ${JSON.stringify(stdout)}`
}

/**
 * A shim for programs that work in a data directory. It does not affect their child processes.
 *
 * @param journal record every change
 * @param clock a clock that can be moved
 */
export function faultShim(dataDir: string, { journal = false, clock = false } = {}): FaultShim {
  const own = temporaryFolder('fault')
  const at = (name: string) => join(own.path, name)
  const ahead = Buffer.alloc(8)
  writeFileSync(at('clock'), ahead)
  writeFileSync(at('hits'), '')
  let generation = 0
  const shim: FaultShim = {
    env: {
      LD_PRELOAD: library,
      FAULT_SHIM_PREFIX: realpathSync(dataDir),
      FAULT_SHIM_RULES: at('rules'),
      FAULT_SHIM_HITS: at('hits'),
      ...(journal ? { FAULT_SHIM_JOURNAL: at('journal') } : {}),
      ...(clock ? { FAULT_SHIM_CLOCK: at('clock') } : {}),
    },
    setRules(...rules) {
      generation++
      const lines = rules.map(
        ({ on, effect, skip = 0, count = ENDLESS, path = '' }) => `${on} ${effect} ${skip} ${count} ${path}`,
      )
      const text = Buffer.alloc(RULES_BYTES)
      const size = text.write(`gen ${generation}\n${lines.join('\n')}\nend ${generation}\n`)
      if (size >= RULES_BYTES) throw new Error('more rules than there is room for')
      // In one call, so that a reader sees the old or the new rules.
      write(at('rules'), text)
    },
    hits: () => readFileSync(at('hits'), 'utf8').split('\n').slice(0, -1),
    journal: at('journal'),
    setAhead(milliseconds) {
      ahead.writeBigInt64LE(BigInt(milliseconds))
      write(at('clock'), ahead)
    },
    remove: () => own.remove(),
  }
  shim.setRules()
  return shim
}

/** Writes from the start of a file that other processes have open. */
function write(path: string, bytes: Buffer): void {
  const file = openSync(path, existsSync(path) ? 'r+' : 'w')
  writeSync(file, bytes, 0, bytes.length, 0)
  closeSync(file)
}
