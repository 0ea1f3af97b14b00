import { describe, expect, it } from 'vitest'
import { GraphExtractor } from '../../../../../src/engine/knowledge/derived/graph/extract.js'

/** `subject predicate object` of what a text states. */
function stated(text: string): string[] {
  const reader = new GraphExtractor('')
  reader.add({ key: 1, text, section: [] })
  return [...reader.finish().relations.values()].flatMap(({ subject, predicate, object }) =>
    predicate === '' ? [] : [`${subject} ${predicate} ${object}`],
  )
}

describe('the relations stated in a text', () => {
  it('keep their direction in active, passive and nominal sentences', () => {
    for (const text of [
      'Harrow Mills acquired Linden Paper in May.',
      'In May Linden Paper was acquired by Harrow Mills.',
      'Linden Paper, bought by Harrow Mills in May, makes envelopes by hand.',
      'Harrow Mills’ acquisition of Linden Paper was cheap.',
      'The takeover of Linden Paper by Harrow Mills was cheap.',
    ])
      expect(stated(text), text).toContain('harrow mills acquired linden paper')
  })

  it('include roles, with the name of the person on either side', () => {
    for (const text of [
      'Vera Holm is the founder of Linden Paper.',
      'Vera Holm, founder of Linden Paper, retired.',
      'The founder of Linden Paper is Vera Holm.',
      'Linden Paper’s founder, Vera Holm, retired.',
    ])
      expect(stated(text), text).toContain('vera holm founded linden paper')
  })

  it('apply to every item of a list, after an inserted clause, and to a second verb', () => {
    expect(stated('Harrow Mills owns Linden Paper, Ashdown Press and Corby Inks.')).toEqual([
      'harrow mills owns linden paper',
      'harrow mills owns ashdown press',
      'harrow mills owns corby inks',
    ])
    expect(stated('Harrow Mills, which is based in Ghent, acquired Corby Inks and founded Ashdown Press.')).toEqual([
      'harrow mills located_in ghent',
      'harrow mills acquired corby inks',
      'harrow mills founded ashdown press',
    ])
  })

  it('connect names without capital letters', () => {
    expect(stated('The label printer depends on cups and a network share.')).toEqual([
      'label printer depends_on cups',
      'label printer depends_on network share',
    ])
    expect(stated('The label printer uses cups and PostgreSQL.')).toEqual([
      'label printer uses cups',
      'label printer uses postgresql',
    ])
    expect(stated('Last month we replaced memcached with valkey.')).toEqual(['valkey replaced memcached'])
  })

  it('include the price of a thing as an amount', () => {
    expect(stated('A season ticket costs 85 euros.')).toEqual(['season ticket costs 85 euros'])
    expect(stated('The price of the Atlas desk is $300.')).toEqual(['atlas desk costs usd 300'])
  })

  it('exclude negations, conditions, questions, intentions and sentences without an agent', () => {
    for (const text of [
      'Harrow Mills has not acquired Linden Paper.',
      'The label printer no longer depends on cups.',
      'No printer requires the old driver.',
      'If Harrow Mills bought Linden Paper, it would close.',
      'Harrow Mills wants to acquire Linden Paper.',
      'Has Harrow Mills acquired Linden Paper?',
      'The planned acquisition of Linden Paper by Harrow Mills was dropped.',
      'Linden Paper was acquired last year.',
    ])
      expect(stated(text), text).toEqual([])
  })

  it('exclude words with another sense or part of speech than the relation', () => {
    for (const text of [
      'The gravel road leads to the old harbour.',
      'Drug use disorders rose.',
      'The court found that the Linden Act applies.',
      'Vera Holm used to walk.',
      'The president of Linden Paper founded no company.',
    ])
      expect(stated(text), text).toEqual([])
  })
})
