import { expect, it } from 'vitest'
import { createCitationWriter } from '../../../../src/engine/knowledge/support/citation-marks.js'

const GIVEN = (number: number) => number >= 1 && number <= 4

it.each([
  ['Nine [1].', 'Nine [1].'],
  ['Nine [1, 3].', 'Nine [1][3].'],
  ['Nine [1;2] or ten [4].', 'Nine [1][2] or ten [4].'],
  ['Nine [2-4].', 'Nine [2][3][4].'],
  ['Nine【1】、十【2】', 'Nine[1]、十[2]'],
  ['Nine [passage 2].', 'Nine [2].'],
  ['Nine [passages 1, 2].', 'Nine [1][2].'],
  ['Nine [9, 10].', 'Nine.'],
  ['Nine [99] and ten [1, 99].', 'Nine and ten [1].'],
  ['Nine [source 0].', 'Nine.'],
  ['From [1990-1995] on.', 'From [1990-1995] on.'],
  ['A list `[1, 2]` of two.', 'A list `[1, 2]` of two.'],
  ['```\n[1, 2]\n``` [1,2]', '```\n[1, 2]\n``` [1][2]'],
  ['An [open bracket, [1, 2] and [', 'An [open bracket, [1][2] and ['],
  ['[1', '[1'],
  ['[[1]]', '[[1]]'],
])('the citations of %j become %j, however the stream is chunked', (text, expected) => {
  for (let size = 1; size <= text.length; size++) {
    const writer = createCitationWriter(GIVEN)
    let out = ''
    for (let at = 0; at < text.length; at += size) out += writer.take(text.slice(at, at + size))
    expect(out + writer.rest()).toBe(expected)
  }
})
