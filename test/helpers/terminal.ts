import { stripVTControlCharacters } from 'node:util'
import { execa, execaSync } from 'execa'
import { plainEnv } from './cli.js'
import { until } from './until.js'

/** Whether this machine can give a program a separate terminal. */
export const hasTerminal =
  process.platform === 'linux' && execaSync('script', ['--version'], { reject: false }).stdout?.includes('util-linux')

export interface TerminalOptions {
  cwd: string
  env: Record<string, string>
  columns?: number
  /** inputs, each typed once the screen has shown a text */
  inputs?: readonly (readonly [shows: RegExp, keys: string])[]
}

export interface TerminalOutput {
  /** the complete output of the terminal, stdout and stderr, without colours */
  screen: string
  /** the same with control sequences */
  raw: string
  code: number | null
}

/** Below the timeout of a test; on a busy machine a program takes half a minute to start. */
const TIMEOUT_MS = 110_000

/** Runs a shell command in a separate terminal, created by `script`. */
export async function runInTerminal(
  line: string,
  { cwd, env, columns = 80, inputs = [] }: TerminalOptions,
): Promise<TerminalOutput> {
  const sized = `stty cols ${columns} rows 40; ${line}`
  const child = execa('script', ['-qfec', sized, '/dev/null'], {
    cwd,
    // No test presses the keys of a pager.
    env: { ...plainEnv(), SHELL: '/bin/bash', TERM: 'xterm', KS_PAGER: 'cat', ...env },
    extendEnv: false,
    buffer: false,
    reject: false,
    timeout: TIMEOUT_MS,
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
  for (const [shows, keys] of inputs) {
    await until(() => hasEnded || shows.test(screen.slice(from)), TIMEOUT_MS)
    from = screen.length
    if (!hasEnded) child.stdin.write(keys)
  }
  const code = await closed
  return { screen: stripVTControlCharacters(screen).replaceAll('\r\n', '\n'), raw: screen, code }
}
