import type { Key } from 'ink'
import {
  backspace,
  type Draft,
  deleteNext,
  deleteNextWord,
  deleteToEnd,
  deleteToStart,
  deleteWord,
  end,
  home,
  insert,
  left,
  right,
  wordLeft,
  wordRight,
} from './editor.js'

/** What a key triggers if it does not only change the draft. */
export type Action =
  | 'submit'
  | 'interrupt'
  | 'end-of-input'
  | 'new'
  | 'list'
  | 'redraw'
  | 'back'
  | 'forth'
  | 'search'
  | 'complete'
  | 'edit'
  | 'cancel'

export type Typed = { action: Action } | { edit: (draft: Draft) => Draft }

const PASTE_BEGINS = '[200~'
const PASTE_ENDS = '[201~'

/** Interprets keys. Remembers whether a paste is in progress: its line breaks do not send. */
export class Keyboard {
  #pasting = false
  #isFirst = true
  /** whether Ctrl-X was pressed, so that the next key completes the chord */
  #isChord = false

  /** @param input one key, a paste, or several keys at once */
  read(input: string, key: Key): Typed[] {
    const isFirst = this.#isFirst
    this.#isFirst = false
    if (input === PASTE_BEGINS || input === PASTE_ENDS) {
      this.#pasting = input === PASTE_BEGINS
      return []
    }
    if (this.#pasting) {
      const text = key.return ? '\n' : input.replace(/\r\n?/g, '\n')
      return text === '' ? [] : [{ edit: (draft) => insert(draft, text) }]
    }
    const named = namedKey(key)
    if (named !== undefined) return this.#unchorded([named])
    if (key.ctrl) return this.#control(input)
    // Alt with a letter
    if (key.meta) return this.#unchorded(META[input] ?? [])
    // Lines that were typed before the view started end with `\n`, as in a terminal's line mode.
    return this.#plain(isFirst ? input.replaceAll('\n', '\r') : input)
  }

  #unchorded(typed: Typed[]): Typed[] {
    this.#isChord = false
    return typed
  }

  #control(letter: string): Typed[] {
    const wasChord = this.#isChord
    this.#isChord = !wasChord && letter === 'x'
    if (wasChord) return letter === 'e' ? [{ action: 'edit' }] : []
    const typed = CONTROL[letter]
    return typed === undefined ? [] : [typed]
  }

  /** Reads several keys that a fast typist or a program sent as one text. */
  #plain(input: string): Typed[] {
    const typed: Typed[] = []
    for (const part of input.match(/[^\u0000-\u001f\u007f]+|[\u0000-\u001f\u007f]/g) ?? []) {
      const code = part.charCodeAt(0)
      if (part === '\r') typed.push(...this.#unchorded([{ action: 'submit' }]))
      else if (code === 0x7f) typed.push(...this.#unchorded([{ edit: backspace }]))
      else if (code < 0x20) typed.push(...this.#control(String.fromCharCode(code + 0x60)))
      else typed.push(...this.#unchorded([{ edit: (draft) => insert(draft, part) }]))
    }
    return typed
  }
}

/** `inkStdin` maps DEL to the backspace key, so `key.delete` is the delete key. */
function namedKey(key: Key): Typed | undefined {
  const isByWord = key.ctrl || key.meta
  if (key.return) return key.meta ? NEW_LINE : { action: 'submit' }
  if (key.backspace) return { edit: key.meta ? deleteWord : backspace }
  if (key.delete) return { edit: isByWord ? deleteNextWord : deleteNext }
  if (key.upArrow) return { action: 'back' }
  if (key.downArrow) return { action: 'forth' }
  if (key.leftArrow) return { edit: isByWord ? wordLeft : left }
  if (key.rightArrow) return { edit: isByWord ? wordRight : right }
  if (key.home) return { edit: home }
  if (key.end) return { edit: end }
  if (key.tab) return { action: 'complete' }
  if (key.escape) return { action: 'cancel' }
  return undefined
}

const NEW_LINE: Typed = { edit: (draft) => insert(draft, '\n') }

const META: Readonly<Record<string, Typed[]>> = {
  b: [{ edit: wordLeft }],
  d: [{ edit: deleteNextWord }],
  f: [{ edit: wordRight }],
}

const CONTROL: Readonly<Record<string, Typed>> = {
  a: { edit: home },
  b: { edit: left },
  c: { action: 'interrupt' },
  d: { action: 'end-of-input' },
  e: { edit: end },
  f: { edit: right },
  g: { action: 'cancel' },
  h: { edit: backspace },
  i: { action: 'complete' },
  j: NEW_LINE,
  k: { edit: deleteToEnd },
  l: { action: 'redraw' },
  n: { action: 'new' },
  o: { action: 'list' },
  r: { action: 'search' },
  u: { edit: deleteToStart },
  w: { edit: deleteWord },
}
