import { Box, Static, Text, useInput, useStdout } from 'ink'
import { createElement as h, memo, type ReactElement, useEffect, useState, useSyncExternalStore } from 'react'
import { hasUnicode, tty, ttyLine, wantsColour } from '../../cli/terminal.js'
import { hintsFor } from './commands.js'
import type { Conversation, State } from './conversation.js'
import type { Draft } from './editor.js'
import { keepFrame } from './frame.js'
import type { Line } from './lines.js'
import type { Piece, Transcript } from './transcript.js'
import type { Typing, TypingState } from './typing.js'
import { wrap } from './wrap.js'

/** maximum lines of a draft that are shown; earlier lines are hidden */
const DRAFT_LINES = 6
/** maximum queued messages, suggested questions and candidates that are shown */
const LISTED = 4
const LEAVE_HINT = 'Ctrl-C again exits, any other key stays'
const SMALLEST = { columns: 20, rows: 6 }
const SECOND_MS = 1000
const ELLIPSIS = hasUnicode(process.env) ? '…' : '...'

interface ViewProps {
  conversation: Conversation
  typing: Typing
  transcript: Transcript
  /**
   * `while`: the view is suspended and draws nothing below the scrollback; `ever`: it has ended and finishes open
   * entries
   */
  left: 'no' | 'while' | 'ever'
}

/** The transcript, which is written once, and below it what changes: the streaming answer and the input line. */
export function ChatView({ conversation, typing, transcript, left }: ViewProps): ReactElement {
  const state = useSyncExternalStore(conversation.subscribe, conversation.state)
  const typed = useSyncExternalStore(typing.subscribe, typing.state)
  const { columns, rows } = useSize()
  useInput(typing.read)
  const entries = left === 'ever' ? state.entries.map(({ isGrowing: _, ...entry }) => entry) : state.entries
  const open = transcript.follow(entries, columns)
  useEverySecond(state.phase !== 'idle')
  const { lines: draft, place } = draftLines(typed.draft, columns - 2)
  const below = belowLines(state, typed, columns)
  // The cursor rests on the line below the last one.
  const room = Math.max(1, rows - draft.length - below.length - 2)
  const lines = open.slice(-room)
  const status = cutTo(
    typed.leaving !== undefined && state.phase === 'idle' ? LEAVE_HINT : statusOf(state, typed, Date.now(), place),
    columns,
  )
  keepFrame(
    left === 'no' ? [...lines.map(({ text }) => text), ...below, status, ...draft.map((line) => `> ${line}`)] : [],
  )
  const written = {
    items: [...transcript.pieces],
    children: ({ key, lines: of }: Piece) => h(PieceView, { key, lines: of }),
  }
  return h(
    Box,
    { flexDirection: 'column', width: columns },
    h(Static<Piece>, written),
    ...(left === 'no'
      ? [
          ...lines.map((line, row) => h(TranscriptLine, { key: `open-${row}`, ...line })),
          ...below.map((line, row) => h(Text, { key: `below-${row}`, dimColor: true, wrap: 'truncate' }, line)),
          h(Text, { key: 'status', dimColor: true, wrap: 'truncate' }, status),
          ...draft.map((line, row) => h(Text, { key: `draft-${row}` }, (row === 0 ? '> ' : '  ') + line)),
        ]
      : []),
  )
}

function PieceView({ lines }: { lines: readonly Line[] }): ReactElement {
  return h(Box, { flexDirection: 'column' }, ...lines.map((line, row) => h(TranscriptLine, { key: row, ...line })))
}

const LOOKS: Readonly<Record<Line['style'], object>> = {
  dim: { dimColor: true },
  question: { bold: true },
  error: wantsColour({ isTTY: process.stdout.isTTY === true, env: process.env }) ? { color: 'red' } : {},
  answer: {},
}

/** Redrawn only when its line changes. */
const TranscriptLine = memo(({ text, style }: Line): ReactElement => {
  // An empty text has no height.
  return h(Text, { ...LOOKS[style], wrap: 'truncate' }, text === '' ? ' ' : text)
})

/** Redraws every second while a duration is shown. */
function useEverySecond(isOn: boolean): void {
  const [, drawAgain] = useState({})
  useEffect(() => {
    if (!isOn) return
    const timer = setInterval(() => drawAgain({}), SECOND_MS)
    return () => clearInterval(timer)
  }, [isOn])
}

function useSize(): { columns: number; rows: number } {
  const { stdout } = useStdout()
  const [, drawAgain] = useState({})
  useEffect(() => {
    const onResize = () => drawAgain({})
    stdout.on('resize', onResize)
    return () => {
      stdout.off('resize', onResize)
    }
  }, [stdout])
  // Ink is given an endless terminal, so the size comes from the process.
  const { columns, rows } = process.stdout
  return { columns: Math.max(SMALLEST.columns, columns ?? 80), rows: Math.max(SMALLEST.rows, rows ?? 24) }
}

const characters = new Intl.Segmenter(undefined, { granularity: 'grapheme' })
/**
 * A private-use character that marks the cursor while the draft is wrapped, so that no line breaks within its codes.
 */
const CURSOR = '\ue000'

/**
 * The shown lines of the draft with the character at the cursor inverted, and the cursor's line number if lines are
 * hidden.
 */
function draftLines({ text, cursor }: Draft, width: number): { lines: string[]; place: string } {
  const rest = text.slice(cursor)
  const [next] = characters.segment(rest)
  const mark = next === undefined || next.segment === '\n' ? '' : next.segment
  const lines = wrap(tty(text.slice(0, cursor)) + CURSOR + tty(rest.slice(mark.length)), width)
  const at = lines.findIndex((line) => line.includes(CURSOR))
  const first = Math.max(0, at - DRAFT_LINES + 1)
  const shown = lines
    .slice(first, first + DRAFT_LINES)
    .map((line) => line.replace(CURSOR, `\u001b[7m${mark === '' ? ' ' : tty(mark)}\u001b[27m`))
  return { lines: shown, place: lines.length > DRAFT_LINES ? `line ${at + 1} of ${lines.length}` : '' }
}

/** Queued messages, suggested questions, Tab candidates, command hints and the confirmation question. */
function belowLines(state: State, { candidates, draft }: TypingState, columns: number): string[] {
  const waiting = listed(state.waiting.map((text) => `queued: ${text}`))
  const isAsked =
    state.phase === 'idle' && candidates.length === 0 && (draft.text === '' || state.suggestions.includes(draft.text))
  const suggested = isAsked ? listed(state.suggestions.map((text, index) => `/ask ${index + 1} ${text}`)) : []
  const words = candidates.length === 0 ? [] : listed(wrap(candidates.map(ttyLine).join('  '), columns))
  const hints = candidates.length === 0 ? listed(hintsFor(draft.text), ', Tab lists them') : []
  const asks = state.confirm === undefined ? [] : wrap(ttyLine(state.confirm.question), columns)
  const cut = [...waiting, ...suggested].map((line) => cutTo(ttyLine(line), columns))
  return [...cut, ...words, ...hints.map((line) => cutTo(line, columns)), ...asks]
}

function listed(lines: readonly string[], how = ''): string[] {
  return lines.length <= LISTED ? [...lines] : [...lines.slice(0, LISTED), `${lines.length - LISTED} more${how}`]
}

function cutTo(line: string, columns: number): string {
  const [first = '', ...more] = wrap(line, columns)
  return more.length === 0 ? first : `${wrap(line, columns - ELLIPSIS.length)[0] ?? ''}${ELLIPSIS}`
}

/** The status line below the conversation. Names of applications and tools are untrusted. */
export function statusOf(
  { phase, name, images, activity, isSpeaking, waiting, suggestions, askedAt }: State,
  { search }: Pick<TypingState, 'search'>,
  now: number,
  place = '',
): string {
  if (search !== undefined)
    return `searching for ${ttyLine(search.words.text)}_ · Ctrl-R finds the previous match, Enter accepts it`
  const parts = [ttyLine(name)]
  if (phase === 'answering') parts.push(ttyLine(activity), 'answering, Ctrl-C stops')
  else if (phase === 'stopping') parts.push('stopping, Ctrl-C exits')
  else parts.push(isSpeaking ? 'reading aloud, Ctrl-C stops' : '/help')
  const seconds = Math.floor((now - askedAt) / SECOND_MS)
  if (phase !== 'idle' && seconds > 0) parts.push(`${seconds} s`)
  parts.push(place)
  if (waiting.length > 0) parts.push(`${waiting.length} message${waiting.length === 1 ? '' : 's'} queued`)
  if (images.length > 0) parts.push(`${images.length} image${images.length === 1 ? '' : 's'} attached`)
  if (phase === 'idle' && suggestions.length > 0) parts.push('Tab takes a question')
  return parts.filter((part) => part !== '').join(' · ')
}
