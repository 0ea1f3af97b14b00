/** An edited text and its cursor, which is between two grapheme clusters. */
export interface Draft {
  readonly text: string
  /** offset in UTF-16 units */
  readonly cursor: number
}

export const EMPTY_DRAFT: Draft = { text: '', cursor: 0 }

const characters = new Intl.Segmenter(undefined, { granularity: 'grapheme' })

export function toDraft(text: string): Draft {
  return { text, cursor: text.length }
}

export function insert({ text, cursor }: Draft, added: string): Draft {
  return { text: text.slice(0, cursor) + added + text.slice(cursor), cursor: cursor + added.length }
}

export function moveLeft({ text, cursor }: Draft): Draft {
  return { text, cursor: previousBoundary(text, cursor) }
}

export function moveRight({ text, cursor }: Draft): Draft {
  return { text, cursor: nextBoundary(text, cursor) }
}

/** Moves to the start of the current or previous word. */
export function moveWordLeft({ text, cursor }: Draft): Draft {
  return { text, cursor: text.slice(0, cursor).replace(/\S*\s*$/u, '').length }
}

/** Moves to the end of the current or next word. */
export function moveWordRight({ text, cursor }: Draft): Draft {
  const [skipped = ''] = /^\s*\S*/u.exec(text.slice(cursor)) ?? []
  return { text, cursor: cursor + skipped.length }
}

/** Moves to the previous or next line, keeping the column. @returns undefined without such a line */
export function moveLine(draft: Draft, step: -1 | 1): Draft | undefined {
  const { text } = draft
  const lineStart = moveToLineStart(draft).cursor
  const above = lineStart === 0 ? undefined : moveToLineStart({ text, cursor: lineStart - 1 }).cursor
  const lineEnd = moveToLineEnd(draft).cursor
  const below = lineEnd === text.length ? undefined : lineEnd + 1
  const targetStart = step === -1 ? above : below
  if (targetStart === undefined) return undefined
  const targetLine = text.slice(targetStart, moveToLineEnd({ text, cursor: targetStart }).cursor)
  const column = [...characters.segment(text.slice(lineStart, draft.cursor))].length
  const skipped = [...characters.segment(targetLine)].slice(0, column)
  return { text, cursor: targetStart + skipped.map(({ segment }) => segment).join('').length }
}

export function moveToLineStart({ text, cursor }: Draft): Draft {
  return { text, cursor: text.lastIndexOf('\n', cursor - 1) + 1 }
}

export function moveToLineEnd({ text, cursor }: Draft): Draft {
  const breakOffset = text.indexOf('\n', cursor)
  return { text, cursor: breakOffset === -1 ? text.length : breakOffset }
}

export function backspace({ text, cursor }: Draft): Draft {
  return removeRange(text, previousBoundary(text, cursor), cursor)
}

export function deleteNext({ text, cursor }: Draft): Draft {
  return removeRange(text, cursor, nextBoundary(text, cursor))
}

export function deleteNextWord(draft: Draft): Draft {
  return removeRange(draft.text, draft.cursor, moveWordRight(draft).cursor)
}

export function deleteToStart(draft: Draft): Draft {
  return removeRange(draft.text, moveToLineStart(draft).cursor, draft.cursor)
}

export function deleteToEnd(draft: Draft): Draft {
  return removeRange(draft.text, draft.cursor, moveToLineEnd(draft).cursor)
}

export function deleteWord(draft: Draft): Draft {
  return removeRange(draft.text, moveWordLeft(draft).cursor, draft.cursor)
}

function removeRange(text: string, start: number, end: number): Draft {
  return { text: text.slice(0, start) + text.slice(end), cursor: start }
}

function previousBoundary(text: string, cursor: number): number {
  let last = 0
  for (const { index } of characters.segment(text.slice(0, cursor))) last = index
  return last
}

function nextBoundary(text: string, cursor: number): number {
  for (const { segment } of characters.segment(text.slice(cursor))) return cursor + segment.length
  return text.length
}

/** Sent messages that can be recalled. The current draft is after the last one. */
export interface MessageRecall {
  readonly sent: readonly string[]
  /** index of the shown message; `sent.length` is the draft */
  readonly index: number
  readonly draft: string
}

export function startRecall(sent: readonly string[]): MessageRecall {
  return { sent, index: sent.length, draft: '' }
}

/** Moves one step back (-1) or forward (1). @returns undefined at the end of the messages */
export function moveRecall(
  { sent, index, draft }: MessageRecall,
  step: -1 | 1,
  current: string,
): { recall: MessageRecall; text: string } | undefined {
  const next = index + step
  if (next < 0 || next > sent.length) return undefined
  const keptDraft = index === sent.length ? current : draft
  return { recall: { sent, index: next, draft: keptDraft }, text: sent[next] ?? keptDraft }
}
