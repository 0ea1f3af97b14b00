import { describe, expect, it } from 'vitest'
import { isShortFor } from '../../../../../src/engine/knowledge/derived/graph/aliases.js'
import { canonicalKey, findEntities } from '../../../../../src/engine/knowledge/derived/graph/entities.js'
import { GraphExtractor } from '../../../../../src/engine/knowledge/derived/graph/extract.js'

const names = (text: string): string[] => findEntities(text).map(({ name }) => name)

function entities(...passages: string[]) {
  const reader = new GraphExtractor('')
  for (const [key, text] of passages.entries()) reader.add({ key: key + 1, text, section: [] })
  return reader.finish().entities
}

describe('the names found in a text', () => {
  it('include lower-case names: code, versions, words with digits or without vowels, and introduced terms', () => {
    expect(names('Set `retry_limit` in config.yaml before the upload.')).toEqual(['retry_limit', 'config.yaml'])
    expect(names('The call getUserName fails on python3 and with covid-19 data.')).toEqual([
      'getUserName',
      'python3',
      'covid-19',
    ])
    expect(names('They moved to haproxy 2.8.1 last year.')).toEqual(['haproxy'])
    expect(names('Access is by ssh or by grpc.')).toEqual(['ssh', 'grpc'])
    expect(names('The cache, a small server called varnish, was full.')).toEqual(['varnish'])
    expect(names('consul is a service for finding others. ')).toEqual([])
    expect(names('traefik is a reverse proxy.')).toEqual(['traefik'])
  })

  it('keep capitals inside a word, even at the start of a sentence', () => {
    expect(names('PostgreSQL holds the rows. GitHub shows the code.')).toEqual(['PostgreSQL', 'GitHub'])
  })

  it('appear in an English passage full of capitals, which is not read as German', () => {
    const found = names('From Oslo to Bergen, from Turku to Vaasa and from Riga to Liepaja, the ships of Nordlys go.')
    expect(found).toEqual(expect.arrayContaining(['Bergen', 'Turku', 'Vaasa', 'Liepaja', 'Nordlys']))
    expect(names('Der Hund und die Katze sind mit dem Ball für den Garten da.')).toEqual([])
  })

  it('exclude words of headings in title case or capital letters', () => {
    expect(names('How To Choose A Winter Coat For Your Younger Children')).toEqual([])
    expect(names('ITEM 7. REPORT OF THE BOARD ON RISKS')).toEqual([])
    expect(names('A Visit To The University of Tartu Before The Long Winter')).toEqual(['University of Tartu'])
    expect(names('Berlin, Paris, Madrid, Lisbon, Vienna')).not.toEqual([])
  })

  it('end before the next sentence and before a possessive', () => {
    expect(names('METHODS We measured the flow in Lake Constance.')).toEqual(['METHODS', 'Lake Constance'])
    expect(names('They bought Halden’s Blue Harbour for a song.')).toEqual(['Halden', 'Blue Harbour'])
  })

  it('have one key for a company with and without its legal form', () => {
    for (const written of ['Nordlys Inc.', 'Nordlys GmbH', 'Nordlys Oy', 'NORDLYS Co.', "Nordlys's"])
      expect(canonicalKey(written)).toBe('nordlys')
  })
})

describe('the aliases of a name', () => {
  it('match a name whose initials or beginning they are', () => {
    expect(isShortFor('NHS', 'National Health Service')).toBe(true)
    expect(isShortFor('Fed', 'Federal Reserve')).toBe(true)
    expect(isShortFor('MoD', 'Ministry of Defence')).toBe(true)
    expect(isShortFor('Benelux', 'Belgium Netherlands Luxembourg')).toBe(true)
    expect(isShortFor('Oslo', 'Ministry of Defence')).toBe(false)
  })

  it('share one entity per document under the long name, wherever the alias is introduced', () => {
    const found = entities(
      'The FRA was late. Later the Food Research Agency (FRA) paid.',
      'Then the FRA moved to Bergen.',
    )
    expect([...found.keys()]).not.toContain('fra')
    const agency = found.get('food research agency')
    expect([...(agency?.names ?? [])]).toEqual(['Food Research Agency', 'FRA'])
    expect([...(agency?.nodes ?? [])]).toEqual([1, 2])
  })

  it('include plurals and hyphen variants of a name in the same document', () => {
    const found = entities('The Data Steward and other Data Stewards met. An E-Mail Gateway is an EMail Gateway.')
    expect([...found.keys()].filter((key) => /steward|mail/.test(key))).toEqual(['data steward', 'email gateway'])
  })
})
