import { Box, render, Text, useInput, useStdout } from 'ink'
import {
  createElement as h,
  memo,
  type ReactElement,
  useCallback,
  useEffect,
  useRef,
  useState,
  useSyncExternalStore,
} from 'react'
import { tty, ttyLine } from '../../cli/terminal.js'
import { EXIT } from '../../contract/errors.js'
import type { ChatService } from '../service.js'
import { runCommand } from './commands.js'
import { Conversation, type State } from './conversation.js'
import { type Draft, draftOf, EMPTY, type Recall, recall, recallOf } from './editor.js'
import { type Action, Keyboard } from './keys.js'
import { type Line, linesOf } from './lines.js'
import { FRAME_MS, paced } from './paced.js'
import { wrap } from './wrap.js'

const ENTER_SCREEN = '\u001b[?1049h\u001b[?2004h'
const LEAVE_SCREEN = '\u001b[?2004l\u001b[?1049l\u001b[?25h'
/** lines of a draft that are shown; the rest of a long one is above */
const DRAFT_LINES = 6
/** what a shell gives for SIGHUP */
const HANGUP = 129
const LEAVE_HINT = 'Ctrl-C again leaves, any other key stays'
const SMALLEST = { columns: 20, rows: 6 }

/**
 * The conversation as a full-screen view. The screen of before is back whichever way it ends.
 *
 * @returns the exit code
 */
export async function showChat(
  chat: ChatService,
  start: { inputs: Record<string, string>; conversation: string | undefined },
): Promise<number> {
  const conversation = new Conversation(chat, start.inputs)
  await conversation.begin(start.conversation)
  const restore = () => process.stdout.write(LEAVE_SCREEN)
  process.once('exit', restore)
  const onTerm = () => process.exit(EXIT.terminated)
  const onHangup = () => process.exit(HANGUP)
  process.once('SIGTERM', onTerm)
  process.once('SIGHUP', onHangup)
  process.stdout.write(ENTER_SCREEN)
  const { say } = chat
  chat.say = (remark) => conversation.note(remark)
  let exit: number = EXIT.ok
  const app = render(
    h(ChatView, {
      conversation,
      onLeave: (code) => {
        exit = code
        app.unmount()
      },
    }),
    { exitOnCtrlC: false, patchConsole: false },
  )
  await app.waitUntilExit()
  conversation.hush()
  process.off('exit', restore)
  process.off('SIGTERM', onTerm)
  process.off('SIGHUP', onHangup)
  restore()
  chat.say = say
  process.stdin.unref()
  const { conversationId } = conversation.state()
  if (conversationId !== undefined)
    process.stderr.write(`\`kchat chat --conversation ${ttyLine(conversationId)}\` goes on with this conversation.\n`)
  return exit
}

interface ViewProps {
  conversation: Conversation
  onLeave: (exit: number) => void
}

function ChatView({ conversation, onLeave }: ViewProps): ReactElement {
  const state = useSyncExternalStore(conversation.subscribe, conversation.state)
  const size = useSize()
  const { draft, scroll, leaving } = useTyping(conversation, onLeave, size.rows)
  const typed = draftLines(draft, size.columns - 2)
  const height = Math.max(1, size.rows - typed.length - 2)
  const lines = state.entries.flatMap((entry) => linesOf(entry, size.columns))
  const last = Math.max(0, lines.length - height - scroll)
  const shown = lines.slice(last, last + height)
  return h(
    Box,
    { flexDirection: 'column', width: size.columns },
    ...Array.from({ length: height }, (_, row) => h(TranscriptLine, { key: row, ...shown[row] })),
    h(
      Text,
      { key: 'status', dimColor: true, wrap: 'truncate' },
      leaving !== undefined && state.phase === 'idle' ? LEAVE_HINT : statusOf(state, scroll, lines.length > height),
    ),
    ...typed.map((line, row) => h(Text, { key: `draft-${row}` }, (row === 0 ? '> ' : '  ') + line)),
  )
}

const LOOKS: Readonly<Record<Line['style'], object>> = {
  dim: { dimColor: true },
  question: { bold: true },
  error: { color: 'red' },
  answer: {},
}

/** It is drawn anew only where another line stands. */
const TranscriptLine = memo(({ text = '', style = 'answer' }: Partial<Line>): ReactElement => {
  // an empty text has no height
  return h(Text, { ...LOOKS[style], wrap: 'truncate' }, text === '' ? ' ' : text)
})

/** One row is left free: ink clears the whole screen for a view that fills it. */
function useSize(): { columns: number; rows: number } {
  const { stdout } = useStdout()
  const read = useCallback(
    () => ({
      columns: Math.max(SMALLEST.columns, stdout.columns ?? 80),
      rows: Math.max(SMALLEST.rows, stdout.rows ?? 24) - 1,
    }),
    [stdout],
  )
  const [size, setSize] = useState(read)
  useEffect(() => {
    const onResize = () => {
      // lines of the old width stand where they were wrapped: begin on an empty screen
      stdout.write('\u001b[2J\u001b[H')
      setSize(read())
    }
    stdout.on('resize', onResize)
    return () => {
      stdout.off('resize', onResize)
    }
  }, [stdout, read])
  return size
}

const characters = new Intl.Segmenter(undefined, { granularity: 'grapheme' })
/** a private character stands for the cursor while the draft is wrapped: no line breaks within its codes */
const CURSOR = '\ue000'

/** The draft as it is shown, the character at its cursor inverted. */
function draftLines({ text, cursor }: Draft, width: number): string[] {
  const rest = text.slice(cursor)
  const [next] = characters.segment(rest)
  const mark = next === undefined || next.segment === '\n' ? '' : next.segment
  const lines = wrap(tty(text.slice(0, cursor)) + CURSOR + tty(rest.slice(mark.length)), width)
  const at = lines.findIndex((line) => line.includes(CURSOR))
  const first = Math.max(0, at - DRAFT_LINES + 1)
  return lines
    .slice(first, first + DRAFT_LINES)
    .map((line) => line.replace(CURSOR, `\u001b[7m${mark === '' ? ' ' : tty(mark)}\u001b[27m`))
}

/** One line below the conversation; names of applications and tools are what others wrote. */
export function statusOf(
  { phase, name, images, activity, isSpeaking, waiting }: State,
  scroll: number,
  isLong: boolean,
): string {
  const parts = [ttyLine(name)]
  if (phase === 'answering') parts.push(ttyLine(activity), 'answering, Ctrl-C stops')
  else if (phase === 'stopping') parts.push('stopping, Ctrl-C leaves')
  else parts.push(isSpeaking ? 'reading aloud, Ctrl-C ends it' : '/help')
  if (waiting.length > 0) parts.push(`${waiting.length} message${waiting.length === 1 ? '' : 's'} to be sent after it`)
  if (images.length > 0) parts.push(`${images.length} image${images.length === 1 ? '' : 's'} attached`)
  if (scroll > 0) parts.push('PgDn goes down')
  else if (isLong) parts.push('PgUp looks back')
  return parts.filter((part) => part !== '').join(' · ')
}

interface Typing {
  draft: Draft
  recall: Recall
  scroll: number
  /** exit code of the next Ctrl-C: one was pressed at an empty line, or has stopped an answer; any other key takes it back */
  leaving: number | undefined
}

/** What is typed, and what follows from it. */
function useTyping(conversation: Conversation, onLeave: (exit: number) => void, rows: number): Typing {
  const keyboard = useRef(new Keyboard()).current
  // several keys may come before the next drawing: the newest state is kept beside what is drawn
  const now = useRef<Typing>({
    draft: EMPTY,
    recall: recallOf(conversation.state().sent),
    scroll: 0,
    leaving: undefined,
  })
  const commands = useRef<Promise<unknown>>(Promise.resolve())
  const [, force] = useState({})
  const draw = useRef(paced(() => force({}), FRAME_MS)).current
  const set = (change: Partial<Typing>) => {
    now.current = { ...now.current, ...change }
    draw()
  }
  const submit = () => {
    const text = now.current.draft.text.trim()
    if (text === '') return
    set({ draft: EMPTY, scroll: 0 })
    const isCommand = text.startsWith('/') && !text.startsWith('//')
    // one command after another, and a message after the commands before it
    const work = commands.current.then(() => (isCommand ? runCommand(text, conversation) : undefined))
    commands.current = work.then(nothing, nothing)
    const done = work.then((outcome) => {
      if (outcome === 'leave') onLeave(EXIT.ok)
      return isCommand ? undefined : conversation.send(text.startsWith('//') ? text.slice(1) : text)
    })
    set({ recall: recallOf([...conversation.state().sent, text]) })
    done.catch((error: unknown) => conversation.failed(error))
  }
  const act = (action: Action) => {
    const { draft } = now.current
    switch (action) {
      case 'submit':
        return submit()
      case 'interrupt':
        return interrupt(conversation, now.current, onLeave, set)
      case 'end-of-input':
        return draft.text === '' ? onLeave(EXIT.ok) : undefined
      case 'new':
        return conversation.state().phase === 'idle' ? conversation.reset() : undefined
      case 'list':
        return void conversation.open(undefined).catch((error: unknown) => conversation.failed(error))
      case 'redraw':
        return set({})
      case 'back':
      case 'forth': {
        const step = recall(now.current.recall, action === 'back' ? -1 : 1, draft.text)
        return step === undefined ? undefined : set({ recall: step.recall, draft: draftOf(step.text) })
      }
      case 'page-up':
        return set({ scroll: scrolled(conversation.state(), now.current.scroll, rows) })
      case 'page-down':
        return set({ scroll: Math.max(0, now.current.scroll - Math.floor(rows / 2)) })
      default:
        return action satisfies never
    }
  }
  useInput((input, key) => {
    for (const typed of keyboard.read(input, key)) {
      const isInterrupt = 'action' in typed && typed.action === 'interrupt'
      if (now.current.leaving !== undefined && !isInterrupt) set({ leaving: undefined })
      if ('action' in typed) act(typed.action)
      else set({ draft: typed.edit(now.current.draft) })
    }
  })
  return now.current
}

function nothing(): void {}

/** Half a screen up, but never above the first line. */
function scrolled({ entries }: State, scroll: number, rows: number): number {
  const columns = Math.max(SMALLEST.columns, process.stdout.columns ?? 80)
  const total = entries.reduce((sum, entry) => sum + linesOf(entry, columns).length, 0)
  return Math.max(0, Math.min(scroll + Math.floor(rows / 2), total - Math.floor(rows / 2)))
}

/**
 * Ctrl-C: stops an answer, and gives back the messages that were to follow it; then it leaves. It ends what is read aloud,
 * clears a line that is being typed, and at an empty one leaves when it is pressed twice.
 */
function interrupt(
  conversation: Conversation,
  { draft, leaving }: Typing,
  onLeave: (exit: number) => void,
  set: (change: Partial<Typing>) => void,
): void {
  const { phase, isSpeaking } = conversation.state()
  if (phase === 'answering') {
    const back = conversation.takeBack()
    if (back.length > 0) set({ draft: draftOf([...back, draft.text].filter((text) => text !== '').join('\n')) })
    // the answer may have ended before the second one comes; what was given back is cleared first
    else if (draft.text === '') set({ leaving: EXIT.interrupted })
    conversation.stop()
  } else if (phase === 'stopping') onLeave(EXIT.interrupted)
  else if (isSpeaking) conversation.hush()
  else if (leaving !== undefined) onLeave(leaving)
  else if (draft.text !== '') set({ draft: EMPTY })
  else set({ leaving: EXIT.ok })
}
