import { afterEach, expect, it } from 'vitest'
import { createPublishedDocumentsReader } from '../../../../src/engine/files/vfs/published-documents.js'
import { TestSpace } from './space.js'

let space: TestSpace
afterEach(() => space.close())

it('a listing of published documents omits pending documents even if the space defaults to previews', async () => {
  space = new TestSpace({ defaultClass: 'eventual-preview' })
  await space.add({ filename: 'published' })
  await space.add({ filename: 'pending', state: 'pending' })
  const query = { path: '/sources', limit: 10 }
  expect(JSON.stringify(await space.fs.tree(space.caller, space.id, query))).toContain('pending')
  const { root } = await createPublishedDocumentsReader(space.fs).tree(space.caller, space.id, query)
  expect(root.children?.flatMap(({ children }) => children?.map(({ name }) => name))).toEqual(['published'])
})
