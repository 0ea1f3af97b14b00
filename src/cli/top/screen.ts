import { EXIT } from '../../contract/errors.js'
import { paint } from '../terminal.js'
import { createFrameStream, writeControls } from '../terminal-writer.js'
import type { TopSession } from './session.js'
import type { TopKey } from './state.js'
import { renderTop } from './view.js'

/** The view of `ks top` on the alternate screen, so that the terminal's content is restored afterwards. */

const ENTER_SCREEN = '\u001b[?1049h\u001b[2J\u001b[H'
const LEAVE_SCREEN = '\u001b[?25h\u001b[?1049l'
const CLEAR_SCREEN = '\u001b[2J\u001b[H'
const MIN_SIZE = { columns: 20, rows: 4 }
/** Redraws the clock and the outage time between readings. */
const REDRAW_INTERVAL_MS = 1000

const KEY_ACTIONS: Readonly<Record<string, TopKey>> = {
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

/** Shows the view until the user quits or the session stops. */
export async function showTop(session: TopSession, { colour }: { colour: boolean }): Promise<void> {
  // With these variables ink draws only at the end; this is a terminal in any case.
  for (const name of ['CI', 'CONTINUOUS_INTEGRATION']) delete process.env[name]
  // Loaded here only: no other command needs them, and ES modules cannot be required.
  const [{ render, Text, useInput }, react] = await Promise.all([import('ink'), import('react')])
  const { createElement: h, useEffect, useState, useSyncExternalStore } = react

  // biome-ignore lint/correctness/noComponentHookFactories: it is made once; its parts are only there now
  function Top() {
    const state = useSyncExternalStore(session.subscribe, session.getState)
    const size = useSize()
    useInput((input, key) => {
      if (input === 'q' || (key.ctrl && input === 'c')) session.stop()
      else if (key.upArrow || key.downArrow) session.press(key.upArrow ? 'up' : 'down')
      else if (key.return) session.press('filter')
      else if (key.escape) session.press('clear')
      else if (!key.ctrl && !key.meta)
        for (const letter of input) {
          const action = Object.hasOwn(KEY_ACTIONS, letter) ? KEY_ACTIONS[letter] : undefined
          if (letter === 'q') session.stop()
          else if (action !== undefined) session.press(action)
        }
    })
    const lines = renderTop(state, size, Date.now()).map(({ text, colour: lineColour }) =>
      lineColour === undefined || !colour ? text : paint(lineColour, text),
    )
    // An empty text has no height.
    return h(Text, { wrap: 'truncate' }, lines.map((line) => (line === '' ? ' ' : line)).join('\n'))
  }

  // biome-ignore lint/correctness/noComponentHookFactories: the same
  function useSize() {
    const [, draw] = useState({})
    useEffect(() => {
      const redraw = () => draw({})
      process.stdout.on('resize', redraw)
      const timer = setInterval(redraw, REDRAW_INTERVAL_MS)
      return () => {
        process.stdout.off('resize', redraw)
        clearInterval(timer)
      }
    }, [])
    const { columns, rows } = process.stdout
    // The last line is unused: for a view of the full height, ink clears the entire screen at each draw.
    return {
      columns: Math.max(MIN_SIZE.columns, columns ?? 80),
      rows: Math.max(MIN_SIZE.rows, (rows ?? 24) - 1),
    }
  }

  const restore = () => {
    process.stdin.setRawMode(false)
    writeControls(process.stdout, LEAVE_SCREEN)
  }
  const onTerm = () => process.exit(EXIT.terminated)
  const clear = () => void writeControls(process.stdout, CLEAR_SCREEN)
  process.once('exit', restore)
  process.once('SIGTERM', onTerm).once('SIGHUP', onTerm)
  // ink does this after its first frame; an earlier Ctrl-C would end the program on the alternate screen.
  process.stdin.setRawMode(true)
  writeControls(process.stdout, ENTER_SCREEN)
  process.stdout.prependListener('resize', clear)
  const app = render(h(Top), { stdout: createFrameStream(process.stdout), exitOnCtrlC: false, patchConsole: false })
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
