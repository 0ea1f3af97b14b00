import { describe, expect, it } from 'vitest'
import { analyzeQuery } from '../../../src/lib/text/analyze.js'
import {
  buildDerivedForms,
  buildFormsWithoutTwoTypos,
  buildFormsWithoutTypo,
  isCommonWord,
} from '../../../src/lib/text/spelling.js'

const saidOf = (forms: { text: string }[]) => forms.map(({ text }) => text)
const termsOf = (forms: { term: string }[]) => forms.map(({ term }) => term)

describe('forms without a typo', () => {
  it.each([
    ['batery', 'battery'],
    ['alrm', 'alarm'],
    ['alram', 'alarm'],
    ['alarrm', 'alarm'],
    ['deploymnet', 'deployment'],
    ['reimbursment', 'reimbursement'],
    ['agust', 'august'],
  ])('include, for %s, %s', (said, right) => {
    expect(saidOf(buildFormsWithoutTypo(said, 'latin'))).toContain(right)
  })

  it('use the letters of other alphabets', () => {
    expect(termsOf(buildFormsWithoutTypo('библотека', 'cyrillic'))).toContain(analyzeQuery('библиотека')[0])
  })

  it('include words at two typos for a word of eight letters', () => {
    expect(saidOf(buildFormsWithoutTwoTypos('acomodation', 'en'))).toContain('accommodation')
    expect(saidOf(buildFormsWithoutTwoTypos('mantenace', 'en'))).toContain('maintenance')
    expect(saidOf(buildFormsWithoutTwoTypos('depolymnet', 'en'))).toContain('deployment')
    expect(buildFormsWithoutTwoTypos('batrey', 'en')).toEqual([])
    expect(saidOf(buildFormsWithoutTwoTypos('hyperpituitarism', 'en'))).not.toContain('hypopituitarism')
  })

  it('do not exist for a word of three letters, and keep the first letter', () => {
    expect(buildFormsWithoutTypo('cta', 'latin')).toEqual([])
    expect(saidOf(buildFormsWithoutTypo('horse', 'latin'))).not.toContain('norse')
  })
})

describe('forms of the same derivation', () => {
  it.each([
    ['owns', 'owner'],
    ['owner', 'own'],
    ['pay', 'payment'],
    ['writes', 'writer'],
  ])('include, for %s, %s', (said, other) => {
    expect(saidOf(buildDerivedForms(said))).toContain(other)
  })

  it('do not include words with only the same beginning', () => {
    expect(saidOf(buildDerivedForms('police'))).not.toContain('policy')
    expect(termsOf(buildDerivedForms('port'))).not.toContain('portal')
    expect(termsOf(buildDerivedForms('tenses'))).not.toContain('ten')
  })
})

it('isCommonWord accepts forms of frequent words of English and of the language of the question', () => {
  expect(['horses', 'boarded', 'battery'].map((word) => isCommonWord(word, 'en'))).toEqual([true, true, true])
  expect(isCommonWord('kindern', 'de')).toBe(true)
  expect(['batery', 'alrm', 'recieve'].map((word) => isCommonWord(word, 'en'))).toEqual([false, false, false])
})
