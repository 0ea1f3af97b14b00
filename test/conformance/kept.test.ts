import { describe, expect } from 'vitest'
import { bodyOf } from '../helpers/daemon.js'
import { walk } from './walk.js'

describe('after a source with a scope is deleted and its documents are kept, subjects outside the scope', () => {
  walk(
    async (edge, { space, source, documents, ids }) => {
      const { ada, carol } = edge.tokens
      const at = `/knowledge-spaces/${space}`
      const gone = await edge.send('DELETE', `${at}/sources/${source}?documents=keep`, { token: ada })
      expect([gone.status, await gone.text()]).toEqual([204, ''])
      expect((await edge.send('GET', `${at}/sources/${source}`, { token: ada })).status).toBe(404)
      const graph = await edge.send('GET', `${at}/graph/traverse?entityId=${ids.entityId}`, { token: ada })
      const { entities } = await bodyOf<{ entities: { permissionScope: string[] }[] }>(graph)
      expect(entities[0]?.permissionScope).toEqual(['ada'])
      for (const id of documents) {
        const read = await edge.send('GET', `${at}/documents/${id}`, { token: ada })
        expect(read.status).toBe(200)
        expect(await read.json()).not.toHaveProperty('sourceId')
        expect((await edge.send('GET', `${at}/documents/${id}`, { token: carol })).status).toBe(404)
      }
    },
    ['tenant'],
  )
})
