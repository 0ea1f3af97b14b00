import type { spacesRoutes } from '../../contract/gateway/spaces.js'
import type { HandlerDeps, RouteHandlers } from '../operation.js'

export function spacesHandlers({ engine: { spaces } }: HandlerDeps) {
  return {
    createKnowledgeSpace: ({ caller, body }) => spaces.create(caller, body),
    listKnowledgeSpaces: ({ caller, query }) => spaces.list(caller, query),
    getKnowledgeSpace: ({ caller, params }) => spaces.get(caller, params.id),
    updateKnowledgeSpace: ({ caller, params, body }) => spaces.update(caller, params.id, body),
    deleteKnowledgeSpace: async ({ caller, params }) => {
      await spaces.delete(caller, params.id)
      return undefined
    },
    getKnowledgeSpaceManifest: ({ caller, params }) => spaces.manifest(caller, params.id),
    setEmbeddingProfile: ({ caller, params, body }) => spaces.setEmbeddingProfile(caller, params.id, body),
    startEmbeddingMigration: ({ caller, params, body }) => spaces.startMigration(caller, params.id, body),
    getEmbeddingMigration: ({ caller, params }) => spaces.migration(caller, params.id, params.migrationId),
    cancelEmbeddingMigration: ({ caller, params }) => spaces.cancelMigration(caller, params.id, params.migrationId),
    getKnowledgeSpaceStatus: ({ caller, params }) => spaces.status(caller, params.id),
    getKnowledgeSpaceStats: ({ caller, params, query }) => spaces.stats(caller, params.id, query.windowMinutes),
    getRetrievalProfile: ({ caller, params }) => spaces.retrievalProfile(caller, params.id),
    setRetrievalProfile: ({ caller, params, body }) => spaces.setRetrievalProfile(caller, params.id, body),
  } satisfies RouteHandlers<typeof spacesRoutes>
}
