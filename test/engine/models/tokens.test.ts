import { expect, test } from 'vitest'
import { estimateMaxTokens } from '../../../src/engine/models/tokens.js'

// Token counts of a vocabulary of 100,000 tokens, as several servers use.
test.each([
  ['The office is open from Monday to Friday, from nine to five.', 14],
  ['| 2019 | 1,234.5 | (987.6) |', 18],
  ['Часы работы конторы: с понедельника по пятницу.', 21],
  ['事務所の営業時間は月曜日から金曜日までです。', 24],
  ['사무실의 업무 시간은 월요일부터 금요일까지입니다.', 28],
  ['f3a9c17be2d84410a5b69c0de7f81234', 22],
])('the estimate of tokens for "%s" is at least the real number and less than twice as large', (text, counted) => {
  expect(estimateMaxTokens(text)).toBeGreaterThanOrEqual(counted)
  expect(estimateMaxTokens(text)).toBeLessThan(2 * counted)
})

test('the estimate of tokens for an empty text is 0', () => {
  expect(estimateMaxTokens('')).toBe(0)
})
