import { expect, it } from 'vitest'
import { analyzeQuery } from '../../../src/lib/text/analyze.js'
import { findOtherStopWords } from '../../../src/lib/text/other-stop-words.js'

it.each([
  ['Có bao nhiêu người sống ở thành phố này?', ['song', 'thanh', 'pho']],
  ['Phí đỗ xe là bao nhiêu?', ['phi', 'đo', 'xe']],
  ['Kde je možné podať žiadosť o nový preukaz?', ['mozn', 'podat', 'ziadost', 'novy', 'preukaz']],
  ['מה היא הבירה של נורווגיה?', ['הבירה', 'נורווגיה']],
  ['چه کسی مدیر این کتابخانه است؟', ['مدیر', 'کتابخ']],
])('the question %j loses its question and function words', (question, terms) => {
  expect(analyzeQuery(question)).toEqual(terms)
})

it.each([
  ['De novo synthesis in Müller cells', 'novo'],
  ['how do la carte menus work', 'menu'],
  ['capital of Norway', 'capit'],
])('the words of %j do not count as stop words of another language', (question, term) => {
  expect(analyzeQuery(question)).toContain(term)
  expect(findOtherStopWords(question.toLowerCase().split(' '), 0).size).toBe(0)
})
