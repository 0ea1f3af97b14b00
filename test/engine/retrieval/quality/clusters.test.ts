import { describe, expect, test } from 'vitest'
import { findNearestCluster } from '../../../../src/engine/retrieval/quality/assign-cluster.js'
import {
  computeLikeness,
  mayAskSame,
  type QuestionMeaning,
  toMeaning,
} from '../../../../src/engine/retrieval/quality/meaning.js'
import { computePointedSentences } from '../../../../src/engine/retrieval/quality/pointed.js'

/** Cluster numbers of questions that arrive one after the other. */
function clustered(questions: readonly string[]): number[] {
  const clusters = new Map<number, QuestionMeaning[]>()
  return questions.map((question) => {
    const meaning = toMeaning(question)
    const key = findNearestCluster(meaning, clusters) ?? clusters.size
    clusters.set(key, [...(clusters.get(key) ?? []), meaning])
    return key
  })
}

describe('questions to a space', () => {
  test('form one cluster if they mean the same in other words, in another order or as keywords', () => {
    expect(
      clustered([
        'How much does the sauna in Tampere cost?',
        'What is the price of the sauna in Tampere?',
        'sauna Tampere fee',
        'Which entrance fee do I pay for the sauna in Tampere?',
      ]),
    ).toEqual([0, 0, 0, 0])
  })

  test('form separate clusters if they ask for different facets of the same subject', () => {
    expect(
      clustered([
        'How much does the sauna in Tampere cost?',
        'Where is the sauna in Tampere?',
        'When does the sauna in Tampere close?',
        'Who runs the sauna in Tampere?',
      ]),
    ).toEqual([0, 1, 2, 3])
  })

  test('form separate clusters if they name different subjects', () => {
    expect(clustered(['When does the sauna in Tampere close?', 'When does the sauna in Turku close?'])).toEqual([0, 1])
    expect(clustered(['How often must pump X200 be serviced?', 'How often must pump X300 be serviced?'])).toEqual([
      0, 1,
    ])
  })

  test('without shared words form one cluster if they point to the same sentence of the space, else two', () => {
    const passages = [
      { id: 'a', text: 'The gate is locked at eight. Bicycles stand in the shed behind the mill.', score: 1 },
    ]
    const meanings = ['Where do I put my bicycle?', 'shed for bikes', 'When is the gate locked?'].map((question) =>
      toMeaning(question, computePointedSentences(question, passages)),
    )
    const [first, other, third] = meanings
    if (first === undefined || other === undefined || third === undefined) throw new Error('three questions')
    expect(findNearestCluster(other, new Map([['first', [first]]]))).toBe('first')
    expect(findNearestCluster(third, new Map([['first', [first, other]]]))).toBeUndefined()
  })

  test('form one cluster regardless of capital letters in German', () => {
    expect(
      clustered(['Wie hoch ist die Gebühr für das Paket?', 'Gebühr Paket', 'Wann wird das Paket gebracht?']),
    ).toEqual([0, 0, 1])
  })

  test('in German, in French, in Spanish and in Chinese form one cluster each if reworded or cut to keywords', () => {
    expect(
      clustered(['Was kostet die Sauna in Turku?', 'Preis Sauna Turku', 'Wie teuer ist die Sauna in Turku?']),
    ).toEqual([0, 0, 0])
    expect(clustered(['Combien coûte le sauna ?', 'prix du sauna', 'Quel est le tarif du sauna ?'])).toEqual([0, 0, 0])
    expect(clustered(['¿Cuánto cuesta la sauna?', 'precio sauna', '¿Qué hay que pagar por la sauna?'])).toEqual([
      0, 0, 0,
    ])
    expect(clustered(['桑拿房多少钱?', '桑拿房 费用', '请问桑拿房的价格是多少?'])).toEqual([0, 0, 0])
  })

  test('form separate clusters if one noun or verb of the sentence is replaced', () => {
    expect(clustered(['How much does the sauna cost?', 'How much does the canoe cost?'])).toEqual([0, 1])
    expect(clustered(['Wann wird der Zaun gestrichen?', 'Wann wird der Zaun gebaut?'])).toEqual([0, 1])
    expect(clustered(['¿Cuánto cuesta la sauna?', '¿Cuánto cuesta la canoa?'])).toEqual([0, 1])
  })

  test('form separate clusters if they differ in the year, by opposite words or by a negation', () => {
    expect(clustered(['How many guests came in 2021?', 'How many guests came in 2022?'])).toEqual([0, 1])
    expect(clustered(['When does the first tram leave?', 'When does the last tram leave?'])).toEqual([0, 1])
    expect(clustered(['小桑拿房每小时多少钱?', '大桑拿房每小时多少钱?'])).toEqual([0, 1])
    expect(clustered(['Which trams stop at the mill?', 'Which trams do not stop at the mill?'])).toEqual([0, 1])
    expect(clustered(['Until when is the sauna open?', 'When does the sauna close?'])).toEqual([0, 0])
  })

  test('form one cluster if one of them spells out an abbreviation or splits a German compound', () => {
    expect(clustered(['What is the max weight of a parcel?', 'maximum weight of a parcel'])).toEqual([0, 0])
    expect(clustered(['Wie hoch ist die Saunagebühr?', 'Gebühr Sauna'])).toEqual([0, 0])
  })

  test('keep their clusters when further questions arrive', () => {
    const first = ['What is the fee for a parcel?', 'Why was my parcel lost?', 'price of a parcel']
    const more = [...first, 'What causes the loss of a parcel?', 'How much is a parcel to Norway?']
    expect(clustered(more).slice(0, first.length)).toEqual(clustered(first))
  })

  test('have the same likeness in both directions, and are most like themselves', () => {
    const [one, other] = [toMeaning('Where are keys kept?'), toMeaning('At what location do we store the keys?')]
    expect(mayAskSame(one, other)).toBe(true)
    expect(computeLikeness(one, other)).toBeCloseTo(computeLikeness(other, one))
    expect(computeLikeness(one, one)).toBeGreaterThan(computeLikeness(one, other))
  })
})
