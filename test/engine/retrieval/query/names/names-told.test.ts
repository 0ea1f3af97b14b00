import { describe, expect, it } from 'vitest'
import { mentions, toMentionWords } from '../../../../../src/engine/retrieval/query/names/missing-names.js'
import { findNames } from '../../../../../src/engine/retrieval/query/names/question-names.js'

const says = (name: string, text: string) =>
  mentions(toMentionWords({ text, title: '' }), { name, distinctive: name.split(' ') })

describe('other words for a name', () => {
  it.each([
    ['US', 'America'],
    ['USA', 'United States'],
    ['U.S.', 'Americans'],
    ['U.S.A.', 'American'],
    ['United States', 'US'],
    ['America', 'USA'],
    ['American', 'U.S.'],
    ['Americans', 'America'],
    ['UK', 'Britain'],
    ['U.K.', 'English'],
    ['United Kingdom', 'UK'],
    ['Great Britain', 'England'],
    ['Britain', 'U.K.'],
    ['British', 'Great Britain'],
    ['England', 'British'],
    ['English', 'United Kingdom'],
    ['EU', 'Europe'],
    ['European Union', 'EU'],
    ['Europe', 'European Union'],
    ['European', 'EU'],
    ['WWI', 'First World War'],
    ['World War I', '1914'],
    ['First World War', 'Great War'],
    ['Great War', 'WWI'],
    ['WWII', '1939'],
    ['WW2', '1945'],
    ['World War II', 'WWII'],
    ['Second World War', 'WW2'],
    ['France', 'French'],
    ['French', 'France'],
    ['Spain', 'Spaniards'],
    ['Spanish', 'Spain'],
    ['Netherlands', 'Dutch'],
    ['Dutch', 'Holland'],
    ['Holland', 'Netherlands'],
    ['Greece', 'Greek'],
    ['Greek', 'Greece'],
    ['Wales', 'Welsh'],
    ['Welsh', 'Wales'],
    ['Ireland', 'Irish'],
    ['Irish', 'Ireland'],
    ['Switzerland', 'Swiss'],
    ['Swiss', 'Switzerland'],
    ['Denmark', 'Danes'],
    ['Danish', 'Denmark'],
    ['Poland', 'Poles'],
    ['Polish', 'Poland'],
    ['Turkey', 'Turks'],
    ['Turkish', 'Turkey'],
    ['Christ', 'Christianity'],
    ['Christian', 'Christ'],
  ])('count as a mention of %s: %s', (name, other) => {
    expect(says(name, `It was of ${other} then.`)).toBe(true)
    expect(says(name, 'It was of Quork then.')).toBe(false)
  })
})

describe('a word that is similar to a name', () => {
  it.each([
    // Two neighbouring letters swapped, in names of four letters or more.
    ['Ford', 'Frod', true],
    ['Ford', 'Fodr', true],
    ['Ford', 'Fdro', false],
    ['Fox', 'Fxo', false],
    // One letter replaced, added or missing, in names of six letters or more.
    ['Boeing', 'Boeinng', true],
    ['Boeing', 'Boing', true],
    ['Boeing', 'Boezng', true],
    ['Boeing', 'Bxeing', false],
    ['Boeing', 'Xoeing', false],
    ['Quark', 'Quirk', false],
    // Inflected, by at most four letters.
    ['Italy', 'Italian', true],
    ['Italy', 'Italianism', false],
    ['Alps', 'Alpine', false],
    ['Zimmer', 'Zimmers', true],
    ['Fox', 'Foxs', true],
  ])('%s matches %s: %s', (name, word, expected) => {
    expect(says(name, `then the ${word} came`)).toBe(expected)
  })

  it('matches inside of run-together words in a title or file name', () => {
    const inFile = (name: string, source: string) =>
      mentions(toMentionWords({ text: 'It rose.', title: '', source }), { name, distinctive: [name] })
    expect(inFile('Ulta', 'MYULTABEAUTY.pdf')).toBe(true)
    expect(inFile('Ult', 'MYULTABEAUTY.pdf')).toBe(false)
    expect(inFile('Rolls-Royce', 'therollsroyceplc.pdf')).toBe(true)
  })
})

describe('the mention of a name by half of its words', () => {
  it.each([
    ['Ada Keller', 'Then Keller spoke.', true],
    ['Ada Grace Keller', 'Then Keller spoke.', false],
    ['Ada Grace Keller', 'Then Ada Keller spoke.', true],
    ['Ada Keller', 'then keller spoke, all in small letters', true],
    ['Ada Keller', 'Then a keller spoke.', false],
    ['Ada Keller', 'Then ada keller spoke.', true],
  ])('%s in the text "%s": %s', (name, text, expected) => {
    expect(says(name, text)).toBe(expected)
  })
})

describe('the mention of a name by its initials', () => {
  it.each([
    ['IBM', 'International Business Machines makes it.', true],
    ['IBM', 'international business machines makes it', true],
    ['IBMs', 'International Business Machines makes it.', true],
    ['AB', 'an apple bites', false],
    ['AB', 'An Apple Bites', true],
    ['J&J', 'Johnson & Johnson makes it.', true],
    ['BOE', 'The Bank of England closed.', false],
    ['Johnson Johnson', 'J&J makes it.', true],
    ['Quork Zimmer Volt', 'QZV makes it.', true],
    ['Quork Zimmer Volt', 'Q&Z makes it.', false],
    ['Quork', 'Q makes it.', false],
  ])('%s in the text "%s": %s', (name, text, expected) => {
    expect(says(name, text)).toBe(expected)
  })
})

describe('names that a question mentions', () => {
  const names = (question: string) => findNames(question).map(({ name }) => name)

  it('include quotations in any quotation marks', () => {
    expect(names('「紅樓夢」是誰寫的？')).toEqual(['紅樓夢'])
    expect(names('Who wrote “Quork Zim”?')).toEqual(['Quork Zim'])
    expect(names('Wer schrieb „Quork Zim“?')).toEqual(['Quork Zim'])
    expect(names('Who wrote "Q"?')).toEqual([])
  })

  it('include codes in questions, but not next to Chinese', () => {
    expect(names('Where is QXB?')).toEqual(['QXB'])
    expect(names('QXB 的总部在哪里？')).toEqual([])
    expect(names('The boats of QXB are old')).toEqual([])
    expect(names('Compare the boats of QXB')).toEqual(['QXB'])
  })

  it('end at a possessive, at punctuation, or at a lower-case word', () => {
    expect(names("What is Quork's Zimmer?")).toEqual(['Quork', 'Zimmer'])
    expect(names('Where is Quork? Zimmer is where?')).toEqual(['Quork'])
    expect(names('Did Quork and Zimmer meet there once?')).toEqual(['Quork', 'Zimmer'])
    expect(names('Did Quork of Zimmer meet there once?')).toEqual(['Quork of Zimmer'])
    expect(names('Did Quork, Zimmer meet there once?')).toEqual(['Quork', 'Zimmer'])
  })

  it('include lower-case words in the possessive if no article makes them nouns', () => {
    expect(names("what are quork's sales?")).toEqual(['quork'])
    expect(names("what are the quork's sales?")).toEqual([])
    expect(names("what are company's sales?")).toEqual([])
    expect(names("what are abc's sales?")).toEqual([])
  })
})
