import { array, assert, constantFrom, integer, property, string } from 'fast-check'
import stringWidth from 'string-width'
import { describe, expect, it } from 'vitest'
import { createProseWrapper, wrapLines } from '../../src/cli/prose.js'

function prose(text: string, width = 40, pieces = [text]): string {
  const wrapping = createProseWrapper(width)
  return pieces.map((piece) => wrapping.push(piece)).join('') + wrapping.end()
}
const widths = (text: string) => text.split('\n').map((line) => stringWidth(line))

describe('an answer at a terminal', () => {
  it('wraps between words, with hanging indents for lists and quotes', () => {
    const text =
      'The restore is tested on the first Monday of every month. [1]\n\n- a failed test is a page to the owner of it\n12. the second point is as long as the first\n> who quotes is quoted by those who quote'
    expect(prose(text)).toBe(
      [
        'The restore is tested on the first',
        'Monday of every month. [1]',
        '',
        '- a failed test is a page to the owner',
        '  of it',
        '12. the second point is as long as the',
        '    first',
        '> who quotes is quoted by those who',
        '> quote',
      ].join('\n'),
    )
  })

  it('does not break code, tables and addresses', () => {
    const url = 'https://example.com/a/very/long/address/that/does/not/fit/into/the/line'
    const code = '```sh\nks ingest ./documents --space example-space --wait --quiet\n```\n'
    const table = '| a column that is quite wide | another column |\n|---|---|\n'
    const indented = '    const answer = await client.request(address, options)\n'
    for (const whole of [code, table, indented]) expect(prose(`So:\n\n${whole}`)).toBe(`So:\n\n${whole}`)
    expect(prose(`It stands at ${url} since May.`)).toBe(`It stands at\n${url}\nsince May.`)
    expect(prose('Then comes, when you are ready, `ks doctor --json` again.')).toBe(
      'Then comes, when you are ready,\n`ks doctor --json` again.',
    )
  })

  it('counts wide characters as two columns and wraps scripts without spaces', () => {
    const text = '港に入る船は東の岸壁に係留し、料金は一泊あたり九クローネである。水と電気の料金は含まれている。'
    const lines = prose(text).split('\n')
    expect(lines.join('')).toBe(text)
    expect(Math.max(...widths(prose(text)))).toBeLessThanOrEqual(40)
    expect(lines.filter((line) => /^[、。]/.test(line))).toEqual([])
    expect(lines.length).toBe(3)
  })

  it('looks the same however its text is split into deltas, and omits only spaces of the text', async () => {
    const word = constantFrom(
      'a',
      'harbour',
      'https://example.com/x',
      '係留',
      '。',
      '`ks jobs`',
      '- ',
      '> ',
      '|',
      '```',
      ' ',
      '  ',
      '\n',
      '\n\n',
      '12. ',
    )
    const isSame = property(array(word, { maxLength: 60 }), array(integer({ min: 0, max: 300 })), (words, cuts) => {
      const text = words.join('')
      const at = [...new Set([0, ...cuts.filter((cut) => cut < text.length), text.length])].sort((a, b) => a - b)
      const pieces = at.slice(1).map((end, index) => text.slice(at[index], end))
      const whole = prose(text, 24)
      expect(prose(text, 24, pieces)).toBe(whole)
      // The quote marker repeats on wrapped lines.
      expect(whole.replace(/[\s>]/g, '')).toBe(text.replace(/[\s>]/g, ''))
    })
    await assert(isSame, { numRuns: 2000 })
  })
})

describe('wrapped output lines of a command', () => {
  it('begin below the text that follows a label, or at the indent of the first line', () => {
    expect(wrapLines('storage      the disk is nearly full and wants to be cleaned', 40)).toBe(
      'storage      the disk is nearly full and\n             wants to be cleaned',
    )
    expect(wrapLines('hint: `ks spaces create NAME` makes the first one', 40)).toBe(
      'hint: `ks spaces create NAME` makes the\nfirst one',
    )
  })

  it('never exceed the terminal if their words are shorter', async () => {
    const fits = property(array(string({ maxLength: 12 })), integer({ min: 30, max: 100 }), (words, width) => {
      const text = words.map((word) => word.replace(/[^\x21-\x5f]/g, '')).join(' ')
      expect(Math.max(...widths(wrapLines(text, width)))).toBeLessThanOrEqual(width)
    })
    await assert(fits, { numRuns: 1000 })
  })
})
