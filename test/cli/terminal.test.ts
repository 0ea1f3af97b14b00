import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { getTerminalWidth, hasUnicode, isColourEnabled, tty, ttyLine } from '../../src/cli/terminal.js'

describe('foreign text on a terminal', () => {
  it('shows escape sequences instead of obeying them', () => {
    expect(tty('\u001b]0;owned\u0007red\u001b[31m')).toBe('^[]0;owned^Gred^[[31m')
    expect(tty('\u009b31m')).toBe('<U+009B>31m')
    expect(tty('safe\rfake')).toBe('safe^Mfake')
    expect(tty('abc\u202egnp.exe')).toBe('abc<U+202E>gnp.exe')
  })

  it('keeps line breaks, tabs and every letter', () => {
    expect(tty('a\tb\r\nc\n')).toBe('a\tb\nc\n')
    expect(tty('grün 日本 😀')).toBe('grün 日本 😀')
  })

  it('contains no control character except newline and tab, whatever the input', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(tty(text)).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/)
        expect(tty(tty(text))).toBe(tty(text))
        expect(ttyLine(text)).not.toMatch(/[\n\t]/)
      }),
    )
  })
})

describe('colour of output', () => {
  const cases: [string, boolean | undefined, boolean, Record<string, string>, boolean][] = [
    ['is on at a terminal', undefined, true, {}, true],
    ['is off in a pipe', undefined, false, {}, false],
    ['is off with NO_COLOR', undefined, true, { NO_COLOR: '1' }, false],
    ['is on with an empty NO_COLOR', undefined, true, { NO_COLOR: '' }, true],
    ['is off on a dumb terminal', undefined, true, { TERM: 'dumb' }, false],
    ['is off in CI', undefined, true, { CI: 'true' }, false],
    ['is off with CLICOLOR=0', undefined, true, { CLICOLOR: '0' }, false],
    ['is on with FORCE_COLOR', undefined, false, { FORCE_COLOR: '1' }, true],
    ['is on with CLICOLOR_FORCE', undefined, false, { CLICOLOR_FORCE: '1' }, true],
    ['is on with --color, even with NO_COLOR in a pipe', true, false, { NO_COLOR: '1' }, true],
    ['is off with --no-color, even with FORCE_COLOR', false, true, { FORCE_COLOR: '1' }, false],
  ]
  it.each(cases)('%s', (_, wish, isTTY, env, expected) => {
    expect(isColourEnabled({ override: wish, isTTY, env })).toBe(expected)
  })
})

describe('the detected terminal', () => {
  it('allows symbols only in a UTF-8 locale', () => {
    expect(hasUnicode({ LANG: 'de_DE.UTF-8' })).toBe(true)
    expect(hasUnicode({ LANG: 'C.UTF-8', LC_ALL: 'C' })).toBe(false)
  })

  it('uses the width in COLUMNS if it is valid', () => {
    expect(getTerminalWidth({ columns: 120 }, { COLUMNS: '100' })).toBe(100)
    expect(getTerminalWidth({ columns: 120 }, { COLUMNS: '-3' })).toBe(120)
    expect(getTerminalWidth({}, {})).toBe(80)
  })
})
