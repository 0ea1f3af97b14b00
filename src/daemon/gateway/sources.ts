import type { sourcesRoutes } from '../../contract/gateway/sources.js'
import type { HandlerDeps, RouteHandlers } from '../operation.js'

export function sourcesHandlers({ engine: { sources } }: HandlerDeps) {
  return {
    createSource: ({ caller, params, body }) => sources.create(caller, params.id, body),
    listSources: ({ caller, params, query }) => sources.list(caller, params.id, query),
    getSource: ({ caller, params }) => sources.get(caller, params.id, params.sourceId),
    updateSource: ({ caller, params, body }) => sources.update(caller, params.id, params.sourceId, body),
    deleteSource: async ({ caller, params, query }) => {
      await sources.delete(caller, params.id, params.sourceId, query.documents)
      return undefined
    },
    crawlSource: ({ caller, params }) => sources.crawl(caller, params.id, params.sourceId),
    listSourcePages: ({ caller, params }) => sources.pages(caller, params.id, params.sourceId),
    importSourcePages: ({ caller, params, body }) => sources.importPages(caller, params.id, params.sourceId, body),
    listSourceFiles: ({ caller, params, query }) => sources.files(caller, params.id, params.sourceId, query),
    importSourceFiles: ({ caller, params, body }) => sources.importFiles(caller, params.id, params.sourceId, body),
    testSource: ({ caller, params }) => sources.test(caller, params.id, params.sourceId),
  } satisfies RouteHandlers<typeof sourcesRoutes>
}
