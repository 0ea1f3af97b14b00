import type { Key } from 'ink'
import {
  backspace,
  type Draft,
  deleteNext,
  deleteNextWord,
  deleteToEnd,
  deleteToStart,
  deleteWord,
  insert,
  moveLeft,
  moveRight,
  moveToLineEnd,
  moveToLineStart,
  moveWordLeft,
  moveWordRight,
} from './editor.js'

/** The effect of a key that does not only change the draft. `previous` and `next` refer to lines or messages. */
export type KeyAction =
  | 'submit'
  | 'interrupt'
  | 'end-of-input'
  | 'new'
  | 'list'
  | 'redraw'
  | 'previous'
  | 'next'
  | 'search'
  | 'complete'
  | 'edit'
  | 'cancel'

export type KeyInput = { action: KeyAction } | { edit: (draft: Draft) => Draft }

const PASTE_START = '[200~'
const PASTE_END = '[201~'

/** Interprets keys. Remembers whether a paste is in progress: its line breaks do not send. */
export class KeyReader {
  #isPasting = false
  #isFirst = true
  /** whether Ctrl-X was pressed, so that the next key completes the chord */
  #isChord = false

  /** @param input one key, a paste, or several keys at once */
  read(input: string, key: Key): KeyInput[] {
    const isFirst = this.#isFirst
    this.#isFirst = false
    if (input === PASTE_START || input === PASTE_END) {
      this.#isPasting = input === PASTE_START
      return []
    }
    if (this.#isPasting) {
      const text = key.return ? '\n' : input.replace(/\r\n?/g, '\n')
      return text === '' ? [] : [{ edit: (draft) => insert(draft, text) }]
    }
    const namedInput = toNamedInput(key)
    if (namedInput !== undefined) return this.#endChord([namedInput])
    if (key.ctrl) return this.#readControl(input)
    if (key.meta) return this.#endChord(META[input] ?? [])
    // Lines that were typed before the view started end with `\n`, as in a terminal's line mode.
    return this.#readPlain(isFirst ? input.replaceAll('\n', '\r') : input)
  }

  #endChord(inputs: KeyInput[]): KeyInput[] {
    this.#isChord = false
    return inputs
  }

  #readControl(letter: string): KeyInput[] {
    const wasChord = this.#isChord
    this.#isChord = !wasChord && letter === 'x'
    if (wasChord) return letter === 'e' ? [{ action: 'edit' }] : []
    const inputs = CONTROL[letter]
    return inputs === undefined ? [] : [inputs]
  }

  /** Reads several keys that a fast typist or a program sent as one text. */
  #readPlain(input: string): KeyInput[] {
    const inputs: KeyInput[] = []
    for (const part of input.match(/[^\u0000-\u001f\u007f]+|[\u0000-\u001f\u007f]/g) ?? []) {
      const code = part.charCodeAt(0)
      if (part === '\r') inputs.push(...this.#endChord([{ action: 'submit' }]))
      else if (code === 0x7f) inputs.push(...this.#endChord([{ edit: backspace }]))
      else if (code < 0x20) inputs.push(...this.#readControl(String.fromCharCode(code + 0x60)))
      else inputs.push(...this.#endChord([{ edit: (draft) => insert(draft, part) }]))
    }
    return inputs
  }
}

/** `inkStdin` maps DEL to the backspace key, so `key.delete` is the delete key. */
function toNamedInput(key: Key): KeyInput | undefined {
  const isByWord = key.ctrl || key.meta
  if (key.return) return key.meta ? NEW_LINE : { action: 'submit' }
  if (key.backspace) return { edit: key.meta ? deleteWord : backspace }
  if (key.delete) return { edit: isByWord ? deleteNextWord : deleteNext }
  if (key.upArrow) return { action: 'previous' }
  if (key.downArrow) return { action: 'next' }
  if (key.leftArrow) return { edit: isByWord ? moveWordLeft : moveLeft }
  if (key.rightArrow) return { edit: isByWord ? moveWordRight : moveRight }
  if (key.home) return { edit: moveToLineStart }
  if (key.end) return { edit: moveToLineEnd }
  if (key.tab) return { action: 'complete' }
  if (key.escape) return { action: 'cancel' }
  return undefined
}

const NEW_LINE: KeyInput = { edit: (draft) => insert(draft, '\n') }

/** keys with Alt */
const META: Readonly<Record<string, KeyInput[]>> = {
  b: [{ edit: moveWordLeft }],
  d: [{ edit: deleteNextWord }],
  f: [{ edit: moveWordRight }],
}

/** keys with Ctrl */
const CONTROL: Readonly<Record<string, KeyInput>> = {
  a: { edit: moveToLineStart },
  b: { edit: moveLeft },
  c: { action: 'interrupt' },
  d: { action: 'end-of-input' },
  e: { edit: moveToLineEnd },
  f: { edit: moveRight },
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
