import { stripVTControlCharacters } from 'node:util'
import { execa, execaSync } from 'execa'
import { plainEnv } from './cli.js'
import { until } from './until.js'

/** Whether this machine can give a program a terminal of its own. */
export const hasTerminal =
  process.platform === 'linux' && execaSync('script', ['--version'], { reject: false }).stdout?.includes('util-linux')

export interface AtTerminal {
  cwd: string
  env: Record<string, string>
  columns?: number
  /** what is typed once the screen has shown something, one after the other */
  types?: readonly (readonly [shows: RegExp, keys: string])[]
}

export interface Shown {
  /** everything that was written to the terminal, stdout and stderr, without colours */
  screen: string
  /** the same as written, with control sequences */
  raw: string
  code: number | null
}

/** below the timeout of a test; on a busy machine a program takes half a minute to start */
const LONGEST_MS = 110_000

/** Runs a line of shell at a terminal of its own, as `script` makes one. */
export async function atTerminal(line: string, { cwd, env, columns = 80, types = [] }: AtTerminal): Promise<Shown> {
  const sized = `stty cols ${columns} rows 40; ${line}`
  const child = execa('script', ['-qfec', sized, '/dev/null'], {
    cwd,
    // nobody is there to turn pages
    env: { ...plainEnv(), SHELL: '/bin/bash', TERM: 'xterm', KS_PAGER: 'cat', ...env },
    extendEnv: false,
    buffer: false,
    reject: false,
    timeout: LONGEST_MS,
    killSignal: 'SIGKILL',
  })
  let screen = ''
  let hasEnded = false
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    screen += text
  })
  child.stdin.on('error', () => {})
  const closed = child.then(({ exitCode }) => {
    hasEnded = true
    return exitCode ?? null
  })
  let from = 0
  for (const [shows, keys] of types) {
    await until(() => hasEnded || shows.test(screen.slice(from)), LONGEST_MS)
    from = screen.length
    if (!hasEnded) child.stdin.write(keys)
  }
  const code = await closed
  return { screen: stripVTControlCharacters(screen).replaceAll('\r\n', '\n'), raw: screen, code }
}
