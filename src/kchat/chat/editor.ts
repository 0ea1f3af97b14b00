/** An edited text and its cursor, which is between two grapheme clusters. */
export interface Draft {
  readonly text: string
  /** offset in UTF-16 units */
  readonly cursor: number
}

export const EMPTY: Draft = { text: '', cursor: 0 }

const characters = new Intl.Segmenter(undefined, { granularity: 'grapheme' })

export function draftOf(text: string): Draft {
  return { text, cursor: text.length }
}

export function insert({ text, cursor }: Draft, added: string): Draft {
  return { text: text.slice(0, cursor) + added + text.slice(cursor), cursor: cursor + added.length }
}

export function left({ text, cursor }: Draft): Draft {
  return { text, cursor: before(text, cursor) }
}

export function right({ text, cursor }: Draft): Draft {
  return { text, cursor: after(text, cursor) }
}

/** Moves to the start of a word, or to its end. */
export function wordLeft({ text, cursor }: Draft): Draft {
  return { text, cursor: text.slice(0, cursor).replace(/\S*\s*$/u, '').length }
}

export function wordRight({ text, cursor }: Draft): Draft {
  const [passed = ''] = /^\s*\S*/u.exec(text.slice(cursor)) ?? []
  return { text, cursor: cursor + passed.length }
}

/** Moves to the previous or next line, keeping the column. @returns undefined without such a line */
export function toLine(draft: Draft, step: -1 | 1): Draft | undefined {
  const { text } = draft
  const from = home(draft).cursor
  const above = from === 0 ? undefined : home({ text, cursor: from - 1 }).cursor
  const last = end(draft).cursor
  const below = last === text.length ? undefined : last + 1
  const begin = step === -1 ? above : below
  if (begin === undefined) return undefined
  const line = text.slice(begin, end({ text, cursor: begin }).cursor)
  const passed = [...characters.segment(text.slice(from, draft.cursor))].length
  const kept = [...characters.segment(line)].slice(0, passed)
  return { text, cursor: begin + kept.reduce((sum, { segment }) => sum + segment.length, 0) }
}

/** Moves to the start of the line, or to its end. */
export function home({ text, cursor }: Draft): Draft {
  return { text, cursor: text.lastIndexOf('\n', cursor - 1) + 1 }
}

export function end({ text, cursor }: Draft): Draft {
  const at = text.indexOf('\n', cursor)
  return { text, cursor: at === -1 ? text.length : at }
}

export function backspace({ text, cursor }: Draft): Draft {
  return cut(text, before(text, cursor), cursor)
}

/** Deletes the character after the cursor. */
export function deleteNext({ text, cursor }: Draft): Draft {
  return cut(text, cursor, after(text, cursor))
}

export function deleteNextWord(draft: Draft): Draft {
  return cut(draft.text, draft.cursor, wordRight(draft).cursor)
}

export function deleteToStart(draft: Draft): Draft {
  return cut(draft.text, home(draft).cursor, draft.cursor)
}

export function deleteToEnd(draft: Draft): Draft {
  return cut(draft.text, draft.cursor, end(draft).cursor)
}

export function deleteWord(draft: Draft): Draft {
  return cut(draft.text, wordLeft(draft).cursor, draft.cursor)
}

function cut(text: string, from: number, to: number): Draft {
  return { text: text.slice(0, from) + text.slice(to), cursor: from }
}

function before(text: string, cursor: number): number {
  let last = 0
  for (const { index } of characters.segment(text.slice(0, cursor))) last = index
  return last
}

function after(text: string, cursor: number): number {
  for (const { segment } of characters.segment(text.slice(cursor))) return cursor + segment.length
  return text.length
}

/** Sent messages that can be recalled. The current draft is after the last one. */
export interface Recall {
  readonly sent: readonly string[]
  /** index of the shown message; `sent.length` is the draft */
  readonly at: number
  readonly draft: string
}

export function recallOf(sent: readonly string[]): Recall {
  return { sent, at: sent.length, draft: '' }
}

/** Moves one step back (-1) or forward (1). @returns undefined at the end of the messages */
export function recall(
  { sent, at, draft }: Recall,
  step: -1 | 1,
  current: string,
): { recall: Recall; text: string } | undefined {
  const next = at + step
  if (next < 0 || next > sent.length) return undefined
  const kept = at === sent.length ? current : draft
  return { recall: { sent, at: next, draft: kept }, text: sent[next] ?? kept }
}
