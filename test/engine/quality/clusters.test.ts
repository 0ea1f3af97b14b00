import { describe, expect, test } from 'vitest'
import { nearestCluster } from '../../../src/engine/quality/assign-cluster.js'
import { canBeOne, likeness, type Meaning, meaningOf } from '../../../src/engine/quality/meaning.js'
import { pointedTo } from '../../../src/engine/quality/pointed.js'

/** Clusters of questions that come one after the other, by their place. */
function clustered(questions: readonly string[]): number[] {
  const clusters = new Map<number, Meaning[]>()
  return questions.map((question) => {
    const meaning = meaningOf(question)
    const key = nearestCluster(meaning, clusters) ?? clusters.size
    clusters.set(key, [...(clusters.get(key) ?? []), meaning])
    return key
  })
}

describe('questions that ask the same', () => {
  test('are one cluster in other words, another order and as keywords', () => {
    expect(
      clustered([
        'How much does the sauna in Tampere cost?',
        'What is the price of the sauna in Tampere?',
        'sauna Tampere fee',
        'Which entrance fee do I pay for the sauna in Tampere?',
      ]),
    ).toEqual([0, 0, 0, 0])
  })

  test('are another cluster where they want to know something else of the same thing', () => {
    expect(
      clustered([
        'How much does the sauna in Tampere cost?',
        'Where is the sauna in Tampere?',
        'When does the sauna in Tampere close?',
        'Who runs the sauna in Tampere?',
      ]),
    ).toEqual([0, 1, 2, 3])
  })

  test('are another cluster where they name another thing', () => {
    expect(clustered(['When does the sauna in Tampere close?', 'When does the sauna in Turku close?'])).toEqual([0, 1])
    expect(clustered(['How often must pump X200 be serviced?', 'How often must pump X300 be serviced?'])).toEqual([
      0, 1,
    ])
  })

  test('that share no word are one cluster where they point to the same sentence of the space, else they are two', () => {
    const passages = [
      { id: 'a', text: 'The gate is locked at eight. Bicycles stand in the shed behind the mill.', score: 1 },
    ]
    const meanings = ['Where do I put my bicycle?', 'shed for bikes', 'When is the gate locked?'].map((question) =>
      meaningOf(question, pointedTo(question, passages)),
    )
    const [first, other, third] = meanings
    if (first === undefined || other === undefined || third === undefined) throw new Error('three questions')
    expect(nearestCluster(other, new Map([['first', [first]]]))).toBe('first')
    expect(nearestCluster(third, new Map([['first', [first, other]]]))).toBeUndefined()
  })

  test('in German are not told apart by its capitals', () => {
    expect(
      clustered(['Wie hoch ist die Gebühr für das Paket?', 'Gebühr Paket', 'Wann wird das Paket gebracht?']),
    ).toEqual([0, 0, 1])
  })

  test('are one cluster in German, French, Spanish and Chinese too, in other words and as keywords', () => {
    expect(
      clustered(['Was kostet die Sauna in Turku?', 'Preis Sauna Turku', 'Wie teuer ist die Sauna in Turku?']),
    ).toEqual([0, 0, 0])
    expect(clustered(['Combien coûte le sauna ?', 'prix du sauna', 'Quel est le tarif du sauna ?'])).toEqual([0, 0, 0])
    expect(clustered(['¿Cuánto cuesta la sauna?', 'precio sauna', '¿Qué hay que pagar por la sauna?'])).toEqual([
      0, 0, 0,
    ])
    expect(clustered(['桑拿房多少钱?', '桑拿房 费用', '请问桑拿房的价格是多少?'])).toEqual([0, 0, 0])
  })

  test('are another cluster where one thing is put for another in the same sentence', () => {
    expect(clustered(['How much does the sauna cost?', 'How much does the canoe cost?'])).toEqual([0, 1])
    expect(clustered(['Wann wird der Zaun gestrichen?', 'Wann wird der Zaun gebaut?'])).toEqual([0, 1])
    expect(clustered(['¿Cuánto cuesta la sauna?', '¿Cuánto cuesta la canoa?'])).toEqual([0, 1])
  })

  test('are another cluster for another year, on the other side of an opposite, and where one denies', () => {
    expect(clustered(['How many guests came in 2021?', 'How many guests came in 2022?'])).toEqual([0, 1])
    expect(clustered(['When does the first tram leave?', 'When does the last tram leave?'])).toEqual([0, 1])
    expect(clustered(['小桑拿房每小时多少钱?', '大桑拿房每小时多少钱?'])).toEqual([0, 1])
    expect(clustered(['Which trams stop at the mill?', 'Which trams do not stop at the mill?'])).toEqual([0, 1])
    expect(clustered(['Until when is the sauna open?', 'When does the sauna close?'])).toEqual([0, 0])
  })

  test('are one cluster with an abbreviation written out, and with a German compound taken apart', () => {
    expect(clustered(['What is the max weight of a parcel?', 'maximum weight of a parcel'])).toEqual([0, 0])
    expect(clustered(['Wie hoch ist die Saunagebühr?', 'Gebühr Sauna'])).toEqual([0, 0])
  })

  test('stay where they are when others come', () => {
    const first = ['What is the fee for a parcel?', 'Why was my parcel lost?', 'price of a parcel']
    const more = [...first, 'What causes the loss of a parcel?', 'How much is a parcel to Norway?']
    expect(clustered(more).slice(0, first.length)).toEqual(clustered(first))
  })

  test('are alike whichever comes first, and most alike to themselves', () => {
    const [one, other] = [meaningOf('Where are keys kept?'), meaningOf('At what location do we store the keys?')]
    expect(canBeOne(one, other)).toBe(true)
    expect(likeness(one, other)).toBeCloseTo(likeness(other, one))
    expect(likeness(one, one)).toBeGreaterThan(likeness(one, other))
  })
})
