import { expect, it } from 'vitest'
import { diffElements } from '../../src/console/pages/documents/differences.js'

it('differences of two versions list added and removed elements in order, with the number of unchanged elements', () => {
  expect(diffElements(['Plan', 'Monday', 'tea', 'end'], ['Plan', 'Friday', 'tea', 'cake', 'end'])).toEqual([
    { kind: 'unchanged', text: '1 element unchanged' },
    { kind: 'removed', text: 'Monday' },
    { kind: 'added', text: 'Friday' },
    { kind: 'unchanged', text: '1 element unchanged' },
    { kind: 'added', text: 'cake' },
    { kind: 'unchanged', text: '1 element unchanged' },
  ])
  expect(diffElements([], ['a'])).toEqual([{ kind: 'added', text: 'a' }])
  expect(diffElements(['a', 'b'], ['a', 'b'])).toEqual([{ kind: 'unchanged', text: '2 elements unchanged' }])
})

it('differences of versions too long for an ordered comparison still list the elements of only one version', () => {
  const many = (word: string) => Array.from({ length: 2500 }, (_, index) => `${word} ${index}`)
  const changes = diffElements(['x', ...many('old'), 'shared', 'y'], ['z', ...many('new'), 'shared', 'w'])
  expect(changes.filter(({ kind }) => kind === 'removed')).toHaveLength(2502)
  expect(changes.filter(({ kind }) => kind === 'added')).toHaveLength(2502)
  expect(changes).toContainEqual({ kind: 'unchanged', text: '1 element unchanged' })
})
