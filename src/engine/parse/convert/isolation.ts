import { spawnSync } from 'node:child_process'
import { homedir } from 'node:os'
import { isAbsolute } from 'node:path'

/** What a conversion is kept from, and how. */
export interface Isolation {
  /** `bubblewrap`, `unshare`: no network, and all processes end with the first; `none`: neither */
  by: 'bubblewrap' | 'unshare' | 'none'
  /** a command line that runs another one within its limits; `folder` is all that it may write to */
  wrap(argv: readonly string[], folder: string): string[]
}

/** What programs consist of. Nothing of users and of this daemon is among it. */
const SYSTEM = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/etc', '/opt', '/nix', '/var/lib']
const PROBE_MS = 10_000

/** What `prlimit` holds each process to: processor time in seconds, bytes of a file, no core dumps. */
const LIMITS = (seconds: number, bytes: number) => ['prlimit', `--cpu=${seconds}`, `--fsize=${bytes}`, '--core=0', '--']

/**
 * Looks once what this system has: bubblewrap, else namespaces of a user, else nothing. Limits of single processes need
 * `prlimit`.
 */
export function isolationOf(limits: { processorSeconds: number; fileBytes: number }): Isolation {
  const held = LIMITS(limits.processorSeconds, limits.fileBytes)
  const limit = works([...held, 'true']) ? held : []
  const bubble = (argv: readonly string[], folder: string): string[] => [...limit, ...bubblewrap(argv, folder)]
  if (works(bubblewrap(['true'], homedir()))) return { by: 'bubblewrap', wrap: bubble }
  for (const identity of ['--map-current-user', '--map-root-user']) {
    const spaces = ['unshare', '--user', identity, '--net', '--pid', '--fork', '--kill-child', '--']
    if (works([...spaces, 'true'])) return { by: 'unshare', wrap: (argv) => [...limit, ...spaces, ...argv] }
  }
  return { by: 'none', wrap: (argv) => [...limit, ...argv] }
}

function bubblewrap(argv: readonly string[], folder: string): string[] {
  // a program of the operator may lie elsewhere
  const places = [...SYSTEM, ...argv.filter((word) => isAbsolute(word) && !word.startsWith(folder))]
  return [
    'bwrap',
    ...['--unshare-all', '--die-with-parent', '--new-session', '--dev', '/dev', '--proc', '/proc', '--tmpfs', '/tmp'],
    ...places.flatMap((place) => ['--ro-bind-try', place, place]),
    ...['--bind', folder, folder, '--chdir', folder, '--'],
    ...argv,
  ]
}

function works([program = '', ...args]: string[]): boolean {
  return spawnSync(program, args, { stdio: 'ignore', timeout: PROBE_MS }).status === 0
}
