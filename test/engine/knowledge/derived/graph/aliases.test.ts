import { describe, expect, it } from 'vitest'
import { GraphExtractor } from '../../../../../src/engine/knowledge/derived/graph/extract.js'

/** Names of each entity, by key. */
function namesIn(text: string): Record<string, string[]> {
  const reader = new GraphExtractor('Notes')
  reader.add({ key: 1, text, section: ['Notes'] })
  return Object.fromEntries([...reader.finish().entities].map(([key, { names }]) => [key, [...names].sort()]))
}

describe('the names of one entity in a text', () => {
  it.each([
    ['The World Health Organization (WHO) met in Geneva. Later the WHO said so.', 'world health organization', 'WHO'],
    ['WHO (World Health Organization) met in Geneva. Later the WHO said so.', 'world health organization', 'WHO'],
    ['Trains are run by Deutsche Bahn AG (DB) here. The DB was late.', 'deutsche bahn', 'DB'],
    ['Money is made by the European Central Bank, or ECB, and the ECB said so.', 'european central bank', 'ECB'],
    [
      'Later the International Monetary Fund, known as the IMF, paid. So the IMF waits.',
      'international monetary fund',
      'IMF',
    ],
    ['Im Jahr 2019 kaufte die Müller GmbH das Werk. Danach baute Müller es um.', 'muller', 'Müller'],
    ['Im Jahr 2019 wuchs die Müller GmbH. Die Müller GmbH baute es um.', 'muller', 'Die Müller GmbH'],
    ['In 2019 the plant was bought by Acme Inc. and later Acme sold it.', 'acme', 'Acme'],
    ['Rows are kept by PostgreSQL (Postgres) here, and so Postgres stores them.', 'postgresql', 'Postgres'],
  ])('become one entity: %s', (text, key, alias) => {
    const names = namesIn(text)
    expect(names[key]).toContain(alias)
    expect(Object.values(names).filter((all) => all.includes(alias))).toHaveLength(1)
  })

  it.each([
    ['Later the Apple Store opened, and Apple was pleased.', ['apple', 'apple store']],
    ['The talk by Maria Keller was late, and so was Peter Keller.', ['maria keller', 'peter keller']],
    ['It was for the European Central Bank, or IBM, to say.', ['european central bank', 'ibm']],
    ['We met the Harbour Office (Brest) and then the mayor of Brest.', ['brest', 'harbour office']],
    ['Here the Northern Yard, known as a quiet place, met the NRW office.', ['northern yard']],
  ])('do not become one entity with another name: %s', (text, keys) => {
    expect(Object.keys(namesIn(text))).toEqual(expect.arrayContaining(keys))
  })
})
