import { fileURLToPath } from 'node:url'
import { execaSync } from 'execa'
import type { CliHome } from './cli.js'
import { until } from './until.js'

const KCHAT = fileURLToPath(new URL('../../bin/kchat.js', import.meta.url))

export const hasTmux = !execaSync('tmux', ['-V'], { reject: false }).failed

let terminalCount = 0

/** Controls `kchat chat` in a real terminal, provided by `tmux`. */
export function createChatTerminal(home: CliHome) {
  // A separate server for each terminal: one that is still shutting down accepts no new sessions.
  let terminal = ++terminalCount
  const tmux = (...args: string[]) =>
    execaSync('tmux', ['-L', `ks-${process.pid}-${terminal}`, ...args], { reject: false }).stdout
  const screen = () => tmux('capture-pane', '-p', '-J', '-t', 'chat')
  /** including the scrollback */
  const history = () => tmux('capture-pane', '-p', '-J', '-S', '-', '-t', 'chat')
  const type = (...keys: string[]) => tmux('send-keys', '-t', 'chat', ...keys)
  const shows = (text: string | RegExp, timeoutMs?: number) =>
    until(() => (typeof text === 'string' ? screen().includes(text) : text.test(screen())), timeoutMs).catch(() => {
      throw new Error(`the screen does not show ${text}:\n${screen()}`)
    })
  /** Starts `kchat chat` and waits until the screen shows a text. */
  const open = async (args: string[] = [], moreEnv: Record<string, string> = {}, firstText = '/help') => {
    const env = Object.entries({ ...home.env, LANG: 'C.UTF-8', PATH: process.env.PATH ?? '', ...moreEnv }).map(
      ([name, value]) => `${name}=${value}`,
    )
    const chat = ['env', ...env, process.execPath, KCHAT, 'chat', ...args].map((word) => `'${word}'`).join(' ')
    tmux('kill-server')
    terminal = ++terminalCount
    const script = `cd '${home.dir}'; echo before; ${chat}; echo left with $?; exec sleep 300`
    tmux('-f', '/dev/null', 'new-session', '-d', '-s', 'chat', '-x', '80', '-y', '24', script)
    await shows(firstText)
  }
  return { tmux, screen, history, type, shows, open, end: () => void tmux('kill-server') }
}
