import { expect, it } from 'vitest'
import { differences } from '../../src/console/pages/documents/differences.js'

it('what came and went is told in its place, with what stayed counted', () => {
  expect(differences(['Plan', 'Monday', 'tea', 'end'], ['Plan', 'Friday', 'tea', 'cake', 'end'])).toEqual([
    { kind: 'same', text: '1 element as before' },
    { kind: 'went', text: 'Monday' },
    { kind: 'came', text: 'Friday' },
    { kind: 'same', text: '1 element as before' },
    { kind: 'came', text: 'cake' },
    { kind: 'same', text: '1 element as before' },
  ])
  expect(differences([], ['a'])).toEqual([{ kind: 'came', text: 'a' }])
  expect(differences(['a', 'b'], ['a', 'b'])).toEqual([{ kind: 'same', text: '2 elements as before' }])
})

it('of texts that are too long to be compared in order, it is still told what is in one alone', () => {
  const many = (word: string) => Array.from({ length: 2500 }, (_, at) => `${word} ${at}`)
  const changes = differences(['x', ...many('old'), 'shared', 'y'], ['z', ...many('new'), 'shared', 'w'])
  expect(changes.filter(({ kind }) => kind === 'went')).toHaveLength(2502)
  expect(changes.filter(({ kind }) => kind === 'came')).toHaveLength(2502)
  expect(changes).toContainEqual({ kind: 'same', text: '1 element as before' })
})
