import { spawn, spawnSync } from 'node:child_process'
import { stripVTControlCharacters } from 'node:util'
import { plainEnv } from './cli.js'
import { until } from './until.js'

/** Whether this machine can give a program a terminal of its own. */
export const hasTerminal =
  process.platform === 'linux' && spawnSync('script', ['--version']).stdout?.includes('util-linux')

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
  code: number | null
}

const LONGEST_MS = 50_000

/** Runs a line of shell at a terminal of its own, as `script` makes one. */
export async function atTerminal(line: string, { cwd, env, columns = 80, types = [] }: AtTerminal): Promise<Shown> {
  const sized = `stty cols ${columns} rows 40; ${line}`
  const child = spawn('script', ['-qfec', sized, '/dev/null'], {
    cwd,
    env: { ...plainEnv(), SHELL: '/bin/bash', TERM: 'xterm', ...env },
  })
  const timer = setTimeout(() => child.kill('SIGKILL'), LONGEST_MS)
  let screen = ''
  let hasEnded = false
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    screen += text
  })
  child.stdin.on('error', () => {})
  const closed = new Promise<number | null>((resolve) =>
    child.once('close', (code) => {
      hasEnded = true
      resolve(code)
    }),
  )
  let from = 0
  for (const [shows, keys] of types) {
    await until(() => hasEnded || shows.test(screen.slice(from)), LONGEST_MS)
    from = screen.length
    if (!hasEnded) child.stdin.write(keys)
  }
  const code = await closed
  clearTimeout(timer)
  return { screen: stripVTControlCharacters(screen).replaceAll('\r\n', '\n'), code }
}
