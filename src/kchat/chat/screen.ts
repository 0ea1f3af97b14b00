import { Box, Static, Text, useInput, useStdout } from 'ink'
import { createElement as h, memo, type ReactElement, useEffect, useState, useSyncExternalStore } from 'react'
import { hasUnicode, isColourEnabled, tty, ttyLine } from '../../cli/terminal.js'
import { pluralize } from '../../lib/text/pluralize.js'
import { listHints } from './commands.js'
import type { Conversation, ConversationState } from './conversation.js'
import type { Draft } from './editor.js'
import type { InputController, InputState } from './input-controller.js'
import type { ViewLine } from './lines.js'
import type { ChatTranscript, TranscriptPiece } from './transcript.js'
import { wrap } from './wrap.js'

/** maximum lines of a draft that are shown; earlier lines are hidden */
const MAX_DRAFT_LINES = 6
/** maximum queued messages, suggested questions and candidates that are shown */
const MAX_LISTED = 4
const LEAVE_HINT = 'Ctrl-C again exits, any other key stays'
const MIN_SIZE = { columns: 20, rows: 6 }
const SECOND_MS = 1000
const ELLIPSIS = hasUnicode(process.env) ? '…' : '...'

/**
 * A suspended view draws nothing below the scrollback; one that has ended also finishes entries that were still
 * growing.
 */
export type ViewVisibility = 'shown' | 'suspended' | 'ended'

interface ViewProps {
  conversation: Conversation
  input: InputController
  transcript: ChatTranscript
  visibility: ViewVisibility
}

/** The transcript, which is written once, and below it what changes: the streaming answer and the input line. */
export function ChatView({ conversation, input, transcript, visibility }: ViewProps): ReactElement {
  const state = useSyncExternalStore(conversation.subscribe, conversation.getState)
  const inputState = useSyncExternalStore(input.subscribe, input.getState)
  const { columns, rows } = useSize()
  useInput(input.handleKeys)
  const entries = visibility === 'ended' ? state.entries.map(({ isGrowing: _, ...entry }) => entry) : state.entries
  const unfinishedLines = transcript.update(entries, columns)
  useSecondTick(state.phase !== 'idle')
  const { lines: draft, position } = renderDraft(inputState.draft, columns - 2)
  const statusLines = renderStatusLines(state, inputState, columns)
  // The cursor rests on the line below the last one.
  const availableRows = Math.max(1, rows - draft.length - statusLines.length - 2)
  const lines = unfinishedLines.slice(-availableRows)
  const status = truncate(
    inputState.interruptExitCode !== undefined && state.phase === 'idle'
      ? LEAVE_HINT
      : formatStatus(state, inputState, Date.now(), position),
    columns,
  )
  const transcriptProps = {
    items: [...transcript.pieces],
    children: ({ key, lines }: TranscriptPiece) => h(PieceView, { key, lines }),
  }
  return h(
    Box,
    { flexDirection: 'column', width: columns },
    h(Static<TranscriptPiece>, transcriptProps),
    ...(visibility === 'shown'
      ? [
          ...lines.map((line, row) => h(TranscriptLine, { key: `open-${row}`, ...line })),
          ...statusLines.map((line, row) => h(Text, { key: `below-${row}`, dimColor: true, wrap: 'truncate' }, line)),
          h(Text, { key: 'status', dimColor: true, wrap: 'truncate' }, status),
          ...draft.map((line, row) => h(Text, { key: `draft-${row}` }, (row === 0 ? '> ' : '  ') + line)),
        ]
      : []),
  )
}

function PieceView({ lines }: { lines: readonly ViewLine[] }): ReactElement {
  return h(Box, { flexDirection: 'column' }, ...lines.map((line, row) => h(TranscriptLine, { key: row, ...line })))
}

const STYLES: Readonly<Record<ViewLine['style'], object>> = {
  dim: { dimColor: true },
  question: { bold: true },
  error: isColourEnabled({ isTTY: process.stdout.isTTY === true, env: process.env }) ? { color: 'red' } : {},
  answer: {},
}

/** One line; redrawn only when it changes. */
const TranscriptLine = memo(({ text, style }: ViewLine): ReactElement => {
  // An empty text has no height.
  return h(Text, { ...STYLES[style], wrap: 'truncate' }, text === '' ? ' ' : text)
})

/** Redraws every second while a duration is shown. */
function useSecondTick(isOn: boolean): void {
  const [, redraw] = useState({})
  useEffect(() => {
    if (!isOn) return
    const timer = setInterval(() => redraw({}), SECOND_MS)
    return () => clearInterval(timer)
  }, [isOn])
}

function useSize(): { columns: number; rows: number } {
  const { stdout } = useStdout()
  const [, redraw] = useState({})
  useEffect(() => {
    const onResize = () => redraw({})
    stdout.on('resize', onResize)
    return () => {
      stdout.off('resize', onResize)
    }
  }, [stdout])
  // Ink is given an endless terminal, so the size comes from the process.
  const { columns, rows } = process.stdout
  return { columns: Math.max(MIN_SIZE.columns, columns ?? 80), rows: Math.max(MIN_SIZE.rows, rows ?? 24) }
}

const characters = new Intl.Segmenter(undefined, { granularity: 'grapheme' })
/**
 * A private-use character that marks the cursor while the draft is wrapped, so that no line breaks within its codes.
 */
const CURSOR = '\ue000'

/** Renders the shown lines of the draft, with the cursor inverted, and its line number if some lines are hidden. */
function renderDraft({ text, cursor }: Draft, width: number): { lines: string[]; position: string } {
  const rest = text.slice(cursor)
  const [next] = characters.segment(rest)
  const mark = next === undefined || next.segment === '\n' ? '' : next.segment
  const lines = wrap(tty(text.slice(0, cursor)) + CURSOR + tty(rest.slice(mark.length)), width)
  const cursorLine = lines.findIndex((line) => line.includes(CURSOR))
  const first = Math.max(0, cursorLine - MAX_DRAFT_LINES + 1)
  const shownLines = lines
    .slice(first, first + MAX_DRAFT_LINES)
    .map((line) => line.replace(CURSOR, `\u001b[7m${mark === '' ? ' ' : tty(mark)}\u001b[27m`))
  return {
    lines: shownLines,
    position: lines.length > MAX_DRAFT_LINES ? `line ${cursorLine + 1} of ${lines.length}` : '',
  }
}

/** Renders queued messages, suggested questions, Tab candidates, command hints and the confirmation question. */
function renderStatusLines(state: ConversationState, { candidates, draft }: InputState, columns: number): string[] {
  const queuedLines = limitLines(state.queued.map((text) => `queued: ${text}`))
  const showsSuggestions =
    state.phase === 'idle' && candidates.length === 0 && (draft.text === '' || state.suggestions.includes(draft.text))
  const suggested = showsSuggestions
    ? limitLines(state.suggestions.map((text, index) => `/ask ${index + 1} ${text}`))
    : []
  const candidateLines = candidates.length === 0 ? [] : limitLines(wrap(candidates.map(ttyLine).join('  '), columns))
  const hints = candidates.length === 0 ? limitLines(listHints(draft.text), ', Tab lists them') : []
  const confirmLines = state.confirm === undefined ? [] : wrap(ttyLine(state.confirm.question), columns)
  const truncatedLines = [...queuedLines, ...suggested].map((line) => truncate(ttyLine(line), columns))
  return [...truncatedLines, ...candidateLines, ...hints.map((line) => truncate(line, columns)), ...confirmLines]
}

function limitLines(lines: readonly string[], suffix = ''): string[] {
  return lines.length <= MAX_LISTED
    ? [...lines]
    : [...lines.slice(0, MAX_LISTED), `${lines.length - MAX_LISTED} more${suffix}`]
}

function truncate(line: string, columns: number): string {
  const [first = '', ...more] = wrap(line, columns)
  return more.length === 0 ? first : `${wrap(line, columns - ELLIPSIS.length)[0] ?? ''}${ELLIPSIS}`
}

/** Formats the status line below the conversation. Names of applications and tools are untrusted. */
export function formatStatus(
  { phase, name, attachments, activity, isSpeaking, queued, suggestions, sentAtMs }: ConversationState,
  { search }: Pick<InputState, 'search'>,
  nowMs: number,
  position = '',
): string {
  if (search !== undefined)
    return `searching for ${ttyLine(search.query.text)}_ · Ctrl-R finds the previous match, Enter accepts it`
  const parts = [ttyLine(name)]
  if (phase === 'answering') parts.push(ttyLine(activity), 'answering, Ctrl-C stops')
  else if (phase === 'stopping') parts.push('stopping, Ctrl-C exits')
  else parts.push(isSpeaking ? 'reading aloud, Ctrl-C stops' : '/help')
  const seconds = Math.floor((nowMs - sentAtMs) / SECOND_MS)
  if (phase !== 'idle' && seconds > 0) parts.push(`${seconds} s`)
  parts.push(position)
  if (queued.length > 0) parts.push(`${pluralize(queued.length, 'message')} queued`)
  if (attachments.length > 0) parts.push(`${pluralize(attachments.length, 'file')} attached`)
  if (phase === 'idle' && suggestions.length > 0) parts.push('Tab takes a question')
  return parts.filter((part) => part !== '').join(' · ')
}
