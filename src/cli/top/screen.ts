import { EXIT } from '../../contract/errors.js'
import { paint } from '../terminal.js'
import { frameStream, writeControls } from '../terminal-writer.js'
import type { TopSession } from './session.js'
import type { Key } from './state.js'
import { topLines } from './view.js'

/** The view of `ks top` on the alternate screen, so that the terminal's content is restored afterwards. */

const BEGIN = '\u001b[?1049h\u001b[2J\u001b[H'
const END = '\u001b[?25h\u001b[?1049l'
const CLEAR = '\u001b[2J\u001b[H'
const SMALLEST = { columns: 20, rows: 4 }
/** Redraws the clock and the outage time between readings. */
const TICK_MS = 1000

const KEYS: Readonly<Record<string, Key>> = {
  j: 'down',
  k: 'up',
  g: 'first',
  G: 'last',
  f: 'filter',
  s: 'sort',
  p: 'pause',
  '?': 'help',
  h: 'help',
}

/** Shows the view until the user quits. @param signal also ends it */
export async function showTop(session: TopSession, { colour }: { colour: boolean }): Promise<void> {
  // With these variables ink draws only at the end; this is a terminal in any case.
  for (const name of ['CI', 'CONTINUOUS_INTEGRATION']) delete process.env[name]
  // Loaded here only: no other command needs them, and ES modules cannot be required.
  const [{ render, Text, useInput }, react] = await Promise.all([import('ink'), import('react')])
  const { createElement: h, useEffect, useState, useSyncExternalStore } = react

  // biome-ignore lint/correctness/noComponentHookFactories: it is made once; its parts are only there now
  function Top() {
    const state = useSyncExternalStore(session.subscribe, session.state)
    const size = useSize()
    useInput((input, key) => {
      if (input === 'q' || (key.ctrl && input === 'c')) session.leave()
      else if (key.upArrow || key.downArrow) session.press(key.upArrow ? 'up' : 'down')
      else if (key.return) session.press('filter')
      else if (key.escape) session.press('clear')
      else if (!key.ctrl && !key.meta)
        for (const letter of input) {
          const meant = Object.hasOwn(KEYS, letter) ? KEYS[letter] : undefined
          if (letter === 'q') session.leave()
          else if (meant !== undefined) session.press(meant)
        }
    })
    const lines = topLines(state, size, Date.now()).map(({ text, look }) =>
      look === undefined ? text : paint(colour, look, text),
    )
    // An empty text has no height.
    return h(Text, { wrap: 'truncate' }, lines.map((line) => (line === '' ? ' ' : line)).join('\n'))
  }

  // biome-ignore lint/correctness/noComponentHookFactories: the same
  function useSize() {
    const [, draw] = useState({})
    useEffect(() => {
      const again = () => draw({})
      process.stdout.on('resize', again)
      const timer = setInterval(again, TICK_MS)
      return () => {
        process.stdout.off('resize', again)
        clearInterval(timer)
      }
    }, [])
    const { columns, rows } = process.stdout
    // The last line is unused: for a view of the full height, ink clears the entire screen at each draw.
    return {
      columns: Math.max(SMALLEST.columns, columns ?? 80),
      rows: Math.max(SMALLEST.rows, (rows ?? 24) - 1),
    }
  }

  const restore = () => {
    process.stdin.setRawMode(false)
    writeControls(process.stdout, END)
  }
  const onTerm = () => process.exit(EXIT.terminated)
  const clear = () => void writeControls(process.stdout, CLEAR)
  process.once('exit', restore)
  process.once('SIGTERM', onTerm).once('SIGHUP', onTerm)
  // ink does this after its first frame; an earlier Ctrl-C would end the program on the alternate screen.
  process.stdin.setRawMode(true)
  writeControls(process.stdout, BEGIN)
  process.stdout.prependListener('resize', clear)
  const app = render(h(Top), { stdout: frameStream(process.stdout), exitOnCtrlC: false, patchConsole: false })
  try {
    await session.run()
  } finally {
    app.unmount()
    await app.waitUntilExit()
    process.stdout.off('resize', clear)
    process.off('exit', restore)
    process.off('SIGTERM', onTerm).off('SIGHUP', onTerm)
    restore()
    process.stdin.unref()
  }
}
