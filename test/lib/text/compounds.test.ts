import { describe, expect, it } from 'vitest'
import { analyzeCompounds, analyzeDocument, analyzeQuery } from '../../../src/lib/text/analyze.js'
import { findRewordings } from '../../../src/lib/text/compounds.js'

/** The rewordings of a question from the terms of these documents. */
function reworded(question: string, documents: readonly string[]): string[] {
  const queryTerms = analyzeCompounds(question)
  if (queryTerms === undefined) return []
  const frequencies = new Map<string, number>()
  for (const document of documents)
    for (const term of new Set(analyzeDocument(document))) frequencies.set(term, (frequencies.get(term) ?? 0) + 1)
  const found = findRewordings(queryTerms, (term) => frequencies.get(term) ?? 0, documents.length)
  return found.map(({ queryTerms, documentTerms }) => `${queryTerms.join(' ')} = ${documentTerms.join(' ')}`)
}

it('findRewordings keeps several given rewordings of one word', () => {
  const given = ['payment', 'payer'].map((documentTerms) => ({ queryTerms: ['pay'], documentTerms: [documentTerms] }))
  expect(findRewordings({ words: [], languages: [], isCertain: false, otherRewordings: given }, () => 1, 10)).toEqual(
    given,
  )
})

describe('compounds', () => {
  it.each([
    ['Wie hoch ist der Anspruch auf Urlaub?', 'Der Urlaubsanspruch beträgt 30 Tage.'],
    ['Was sind die Gebühren für das Parken?', 'Die Parkgebühren liegen bei zwei Euro.'],
    ['Wie lang ist die Frist für die Kündigung?', 'Die Kündigungsfrist beträgt drei Monate.'],
    ['Wie lang ist die Frist bei Kündigungen?', 'Alle Kündigungsfristen betragen drei Monate.'],
    ['Wie alt ist die Geschichte der Stadt?', 'Die Stadtgeschichte ist im Archiv.'],
    ['Hoe hoog zijn de kosten van het parkeren?', 'De parkeerkosten zijn twee euro per uur.'],
    ['Hur lång är tiden för uppsägning?', 'Uppsägningstiden är tre månader.'],
    ['Hvor høj er afgiften for parkering?', 'Parkeringsafgiften er tyve kroner i timen.'],
    ['Hvor lang er tiden for levering?', 'Leveringstiden er fem dager og ikke mer.'],
    ['Kuinka pitkä on takuun aika?', 'Takuuaika on kaksi vuotta, ja se on voimassa.'],
  ])('%j finds the compound of its words: %j', (question, document) => {
    const [one] = reworded(question, [document])
    expect(one).toMatch(/^\S+ \S+ = \S+$/)
    expect(analyzeDocument(document)).toContain(one?.split(' = ')[1])
  })

  it.each([
    ['Wie hoch ist der Urlaubsanspruch?', 'Der Anspruch auf Urlaub beträgt 30 Tage.'],
    ['Was kosten die Parkgebühren?', 'Die Gebühr für das Parken beträgt zwei Euro.'],
    ['Welche Kündigungsfrist ist das?', 'Die Frist für die Kündigung beträgt drei Monate.'],
    ['Waar is de keldersleutel?', 'De sleutel van de kelder ligt bij de balie.'],
    ['När lämnas budgetrapporten?', 'Rapporten om budgeten lämnas i maj.'],
    ['Hvem betaler rejseudgifterne?', 'Udgifterne til rejsen betales af kunden og ikke af os.'],
    ['Kuka maksaa matkakulut?', 'Asiakas maksaa matkan kulut.'],
  ])('the compound of %j is found in parts: %j', (question, document) => {
    const [one] = reworded(question, [document])
    expect(one).toMatch(/^\S+ = \S+ \S+$/)
    for (const part of one?.split(' = ')[1]?.split(' ') ?? []) expect(analyzeDocument(document)).toContain(part)
  })

  it('can be a question of one word if the space is in a language with compounds', () => {
    const documents = ['Der Anspruch auf Urlaub ist geregelt.', 'Das Haus und der Hof sind nicht groß.']
    expect(reworded('Urlaubsanspruch', documents)).toHaveLength(1)
    expect(reworded('Notebook', ['The book holds a note.', 'A note on the book of the house.'])).toEqual([])
  })

  it('split into their most frequent parts, unless the compound itself is more frequent', () => {
    const often = 'Die Versicherung der Kranken ist Pflicht.'
    const seldom = 'Die Kranke hat eine Rversicherung.'
    expect(reworded('Wie hoch ist die Krankenversicherung?', [seldom, often, often])).toEqual([
      'krankenversicher = krank versicher',
    ])
    const whole = Array.from({ length: 3 }, () => 'Die Krankenversicherung ist für alle da.')
    expect(reworded('Wie hoch ist die Krankenversicherung?', [often, ...whole])).toEqual([])
  })

  it('never split into short accidental parts, endings or function words', () => {
    const documents = [
      'Die Ente und das Huhn.',
      'Ein Teil der Ernte ist reif.',
      'Die Schaft und die Gesell, über Weisung.',
    ]
    for (const word of ['Rente', 'Talente', 'Gesellschaft', 'Überweisung', 'Vorteile'])
      expect(reworded(`Was ist die ${word}?`, documents)).toEqual([])
  })

  it('never split in questions in English or in languages without compounds', () => {
    for (const question of [
      'How high is the parking fee of the workshop?',
      'Quel est le montant des frais de stationnement ?',
      '¿Cuál es el plazo de la notificación?',
      'Какой срок уведомления?',
      '停车费是多少？',
    ])
      expect(analyzeCompounds(question)).toBeUndefined()
  })

  it('do not change the terms of a question', () => {
    const queryTerms = analyzeCompounds('Wie hoch ist der Anspruch auf Urlaub?')
    expect(queryTerms?.words.map(({ term }) => term)).toEqual(analyzeQuery('Wie hoch ist der Anspruch auf Urlaub?'))
  })
})
