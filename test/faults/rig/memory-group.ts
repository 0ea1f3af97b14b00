import { existsSync, mkdtempSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** A group of processes with a common memory limit and no swap; the kernel kills one of them above it. */
export interface MemoryGroup {
  /** prefix of a command that runs it in the group */
  command(program: string, args: readonly string[]): [program: string, args: string[]]
  /** peak memory of the group, including files in the cache of the kernel */
  peakBytes(): number
  /** number of processes that the kernel has killed */
  kills(): number
  /** removes the group after its processes have ended */
  remove(): void
}

const FILES = {
  v1: { root: '/sys/fs/cgroup/memory', limit: 'memory.limit_in_bytes', swap: 'memory.memsw.limit_in_bytes' },
  v2: { root: '/sys/fs/cgroup', limit: 'memory.max', swap: 'memory.swap.max' },
}

/** The reason why such groups cannot be created here; else undefined. */
export const memoryGroupTrouble = troubleOf()

function troubleOf(): string | undefined {
  if (process.platform !== 'linux') return 'control groups are of Linux'
  try {
    memoryGroup(64 * 1024 * 1024).remove()
    return undefined
  } catch (error) {
    return `no control group with a limit may be made (${error instanceof Error ? error.message : error})`
  }
}

/** Creates a group below the one of this process. @throws where that is not allowed */
export function memoryGroup(bytes: number): MemoryGroup {
  const version = existsSync(FILES.v1.root) ? 'v1' : 'v2'
  const { root, limit, swap } = FILES[version]
  const lines = readFileSync('/proc/self/cgroup', 'utf8').split('\n')
  const own = lines.find((line) => (version === 'v1' ? /^\d+:memory:/ : /^0::/).test(line))
  const above = join(root, own?.split(':').slice(2).join(':') ?? '/')
  const folder = mkdtempSync(join(existsSync(above) ? above : root, 'ks-faults-'))
  const read = (name: string) => readFileSync(join(folder, name), 'utf8')
  const remove = () => rmdirSync(folder)
  try {
    writeFileSync(join(folder, limit), String(bytes))
    if (existsSync(join(folder, swap))) writeFileSync(join(folder, swap), String(version === 'v1' ? bytes : 0))
  } catch (error) {
    remove()
    throw error
  }
  const enter = 'echo $$ > "$0"/cgroup.procs && exec "$@"'
  return {
    command: (program, args) => ['sh', ['-c', enter, folder, program, ...args]],
    peakBytes: () => Number(read(version === 'v1' ? 'memory.max_usage_in_bytes' : 'memory.peak')),
    kills: () =>
      Number(/^oom_kill (\d+)/m.exec(read(version === 'v1' ? 'memory.oom_control' : 'memory.events'))?.[1] ?? 0),
    remove,
  }
}
