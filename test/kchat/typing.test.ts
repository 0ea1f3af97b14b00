import fc from 'fast-check'
import stringWidth from 'string-width'
import { describe, expect, it } from 'vitest'
import {
  backspace,
  type Draft,
  deleteNext,
  deleteNextWord,
  deleteToEnd,
  deleteToStart,
  deleteWord,
  EMPTY_DRAFT,
  insert,
  moveLeft,
  moveLine,
  moveRecall,
  moveRight,
  moveToLineEnd,
  moveToLineStart,
  moveWordLeft,
  moveWordRight,
  startRecall,
  toDraft,
} from '../../src/kchat/chat/editor.js'
import { KeyReader } from '../../src/kchat/chat/keys.js'
import { wrap } from '../../src/kchat/chat/wrap.js'

const KEY = {
  upArrow: false,
  downArrow: false,
  leftArrow: false,
  rightArrow: false,
  pageDown: false,
  pageUp: false,
  home: false,
  end: false,
  return: false,
  escape: false,
  ctrl: false,
  shift: false,
  tab: false,
  backspace: false,
  delete: false,
  meta: false,
  super: false,
  hyper: false,
  capsLock: false,
  numLock: false,
}

describe('a message draft in kchat', () => {
  it('can be edited by visible characters', () => {
    let draft: Draft = insert(EMPTY_DRAFT, 'ab👩‍👩‍👧é')
    draft = backspace(moveLeft(draft))
    expect(draft).toEqual({ text: 'abé', cursor: 2 })
    expect(moveRight(draft)).toEqual({ text: 'abé', cursor: 3 })
    expect(backspace(toDraft('')).text).toBe('')
  })

  it('can be edited by words and lines', () => {
    expect(deleteWord(toDraft('one two  ')).text).toBe('one ')
    expect(deleteToStart(toDraft('one\ntwo')).text).toBe('one\n')
    expect(deleteToEnd({ text: 'one\ntwo', cursor: 1 }).text).toBe('o\ntwo')
    expect(moveToLineStart(toDraft('one\ntwo')).cursor).toBe(4)
    expect(moveToLineEnd({ text: 'one\ntwo', cursor: 1 }).cursor).toBe(3)
    expect(moveWordLeft(toDraft('one two  ')).cursor).toBe(4)
    expect(moveWordRight({ text: 'one two  ', cursor: 3 }).cursor).toBe(7)
    expect(deleteNext({ text: 'a🇩🇪b', cursor: 1 })).toEqual({ text: 'ab', cursor: 1 })
    expect(deleteNextWord({ text: 'one two three', cursor: 3 })).toEqual({ text: 'one three', cursor: 3 })
  })

  it('moves its cursor to the line above or below, at the same distance from the start if possible', () => {
    const text = 'long line\n日本語\nlast'
    const up = moveLine({ text, cursor: text.length - 1 }, -1)!
    expect(text.slice(0, up.cursor)).toBe('long line\n日本語')
    expect(moveLine(up, -1)?.cursor).toBe(3)
    expect(moveLine(moveLine(up, -1)!, -1)).toBeUndefined()
    expect(moveLine({ text, cursor: 9 }, 1)?.cursor).toBe(13)
    expect(moveLine(toDraft(text), 1)).toBeUndefined()
  })

  it('keeps its cursor between two characters after any edit', () => {
    const edit = fc.constantFrom(
      ...[moveLeft, moveRight, moveToLineStart, moveToLineEnd, moveWordLeft, moveWordRight],
      ...[backspace, deleteNext, deleteToEnd, deleteWord, deleteNextWord],
      (draft: Draft) => moveLine(draft, -1) ?? draft,
      (draft: Draft) => moveLine(draft, 1) ?? draft,
    )
    const step = fc.oneof(
      edit,
      fc.string({ unit: 'grapheme', maxLength: 4 }).map((text) => (draft: Draft) => insert(draft, text)),
    )
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
        const { text, cursor } = steps.reduce((draft: Draft, change) => change(draft), EMPTY_DRAFT)
        expect(cursor).toBeGreaterThanOrEqual(0)
        expect(cursor).toBeLessThanOrEqual(text.length)
        expect(text.slice(0, cursor).isWellFormed()).toBe(text.isWellFormed())
      }),
    )
  })
})

describe('the history of sent messages', () => {
  it('returns them newest first, and keeps the draft at the end', () => {
    const first = moveRecall(startRecall(['one', 'two']), -1, 'draft')!
    const second = moveRecall(first.recall, -1, first.text)!
    expect([first.text, second.text]).toEqual(['two', 'one'])
    expect(moveRecall(second.recall, -1, second.text)).toBeUndefined()
    const back = moveRecall(moveRecall(second.recall, 1, 'one')!.recall, 1, 'two')!
    expect(back.text).toBe('draft')
    expect(moveRecall(back.recall, 1, 'draft')).toBeUndefined()
  })
})

describe('the keyboard input of kchat', () => {
  const typed = (keyboard: KeyReader, input: string, key: Partial<typeof KEY> = {}) => {
    let draft: Draft = EMPTY_DRAFT
    const actions: string[] = []
    for (const each of keyboard.read(input, { ...KEY, ...key }))
      if ('action' in each) actions.push(`${each.action}:${draft.text}`)
      else draft = each.edit(draft)
    return { text: draft.text, actions }
  }
  const later = () => {
    const keyboard = new KeyReader()
    keyboard.read('', KEY)
    return keyboard
  }

  it('splits keys that arrive together', () => {
    expect(typed(later(), 'hi\rx\u007fy\u0003')).toEqual({ text: 'hiy', actions: ['submit:hi', 'interrupt:hiy'] })
    expect(typed(later(), 'a\nb')).toEqual({ text: 'a\nb', actions: [] })
  })

  it('moves by words with Ctrl or Alt, deletes in both directions, and inserts a line break with Alt-Enter', () => {
    const edited = (input: string, key: Partial<typeof KEY>, draft: Draft) => {
      const [typed] = later().read(input, { ...KEY, ...key })
      return typed !== undefined && 'edit' in typed ? typed.edit(draft) : undefined
    }
    const draft = { text: 'one two three', cursor: 7 }
    for (const key of [
      { leftArrow: true, ctrl: true },
      { leftArrow: true, meta: true },
    ])
      expect(edited('', key, draft)?.cursor).toBe(4)
    expect(edited('b', { meta: true }, draft)?.cursor).toBe(4)
    expect(edited('f', { meta: true }, draft)?.cursor).toBe(13)
    expect(edited('d', { meta: true }, draft)?.text).toBe('one two')
    expect(edited('', { backspace: true }, draft)?.text).toBe('one tw three')
    expect(edited('', { backspace: true, meta: true }, draft)?.text).toBe('one  three')
    expect(edited('', { delete: true }, draft)?.text).toBe('one twothree')
    expect(edited('\r', { return: true, meta: true }, draft)?.text).toBe('one two\n three')
    expect(edited('z', { meta: true }, draft)).toBeUndefined()
  })

  it('sends text that was typed before the view was ready', () => {
    expect(typed(new KeyReader(), 'early\n').actions).toEqual(['submit:early'])
  })

  it('does not send the lines of a paste', () => {
    const keyboard = later()
    keyboard.read('[200~', KEY)
    expect(typed(keyboard, 'one\r\ntwo\r')).toEqual({ text: 'one\ntwo\n', actions: [] })
    expect(typed(keyboard, '\r', { return: true })).toEqual({ text: '\n', actions: [] })
    keyboard.read('[201~', KEY)
    expect(typed(keyboard, '\r', { return: true }).actions).toEqual(['submit:'])
  })

  it('keeps control characters out of the draft', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary-ascii' }), (text) => {
        expect(typed(later(), text).text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f]/)
      }),
    )
  })
})

describe('the wrapping of a draft', () => {
  it('breaks at spaces, and overlong words between characters', () => {
    expect(wrap('one two three', 7)).toEqual(['one two', 'three'])
    expect(wrap('abcdefghij', 4)).toEqual(['abcd', 'efgh', 'ij'])
    expect(wrap('日本語', 4)).toEqual(['日本', '語'])
    expect(wrap('a\n\nb', 9)).toEqual(['a', '', 'b'])
  })

  it('fits every line and loses only spaces', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.integer({ min: 2, max: 30 }), (text, width) => {
        const lines = wrap(text, width)
        for (const line of lines) expect(stringWidth(line)).toBeLessThanOrEqual(width)
        expect(lines.join('').replace(/\s/g, '')).toBe(text.replace(/\s/g, ''))
      }),
    )
  })
})
